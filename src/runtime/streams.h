// SPDX-License-Identifier: GPL-3.0-or-later
// The C library's streams (FILE): what they are open on, where they were opened, and the write
// below them.
#ifndef ORDEAL_RUNTIME_STREAMS_H
#define ORDEAL_RUNTIME_STREAMS_H

#include "runtime/hooks.h"
#include "wire/traits.h"

#include <stdbool.h>
#include <stdint.h>

struct call_frame;
struct module;

#define STREAM_HOOKS 6
extern struct hook stream_hooks[STREAM_HOOKS]; // empty unless streams_are_known()

void streams_prepare(void);   // once the plan is there
bool streams_are_known(void); // some rule is about a function with a FILE

// The FILE that a call is about. False: there is none, or it is surely not one of glibc's.
bool stream_of(const struct call_frame *frame, const struct wire_traits *traits,
               uint64_t *ret_stream, uint32_t *ret_flags);
int64_t stream_descriptor(uint64_t stream); // -1: it has none
// Where a FILE was opened.
struct stream_opening {
    uint64_t place; // a return address; of a standard stream its descriptor, 1 or 2; 0: not known
    uint64_t stack; // frames_hash(), if calls are recorded; or 0
};
struct stream_opening stream_opening(uint64_t stream);

// What a real failure does to the FILE: sets its end or error indicator; loses what was buffered.
#define STREAM_END   0x10u
#define STREAM_ERROR 0x20u
void stream_mark(uint64_t stream, uint32_t flags, uint32_t indicator);
void stream_lose_buffer(uint64_t stream);

// The C library writes a stream's buffer through a table of pointers, not through an import.
// Replaces these pointers in the module that defines the function, if a rule names it.
void stream_write_bind(struct module *module);
bool stream_write_is_bound(void);

#endif
