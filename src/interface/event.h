// SPDX-License-Identifier: GPL-3.0-or-later
// One event of a trace, taken from a block.
#ifndef ORDEAL_INTERFACE_EVENT_H
#define ORDEAL_INTERFACE_EVENT_H

#include "base/array.h"
#include "base/cursor.h"
#include "interface/format.h"

#define EVENT_NUMBERS (3 + INTERFACE_ARGUMENTS)

struct event {
    enum interface_event kind;
    // In the order of format.h. Distances have become addresses; the frames of a stack are in
    // `frames`.
    uint64_t numbers[EVENT_NUMBERS];
    const char *texts[2]; // path, name, bytes of a store: not terminated; their sizes are numbers
    uint64_t frames[INTERFACE_FRAME_LIMIT];
};

struct event_reader {
    struct cursor cursor; // at the events of a block
    uint64_t code, address;
};
// `block` with its header, whose sizes have been checked.
struct event_reader event_reader_new(const struct interface_block *block);
// False at the end of the block, and if what follows is no event: then `cursor.failed` is set.
bool event_next(struct event_reader *reader, struct event *ret_event);
// The size of text `index` of an event.
uint64_t event_text_size(const struct event *event, unsigned index);

// Appends an event, for blocks of names.
_must_check_ struct error *event_append(const struct event *event, struct buffer *buffer);

#endif
