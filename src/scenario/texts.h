// SPDX-License-Identifier: GPL-3.0-or-later
// The interned strings of a scenario, which become the plan's string table.
#ifndef ORDEAL_SCENARIO_TEXTS_H
#define ORDEAL_SCENARIO_TEXTS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"

#include <stdint.h>

// An interned string: its characters stay where they are, `offset` is its place in the plan's
// string table. The zero value is the empty string.
struct text {
    const char *chars;
    uint32_t size, offset;
};
struct strings {
    ARRAY(struct text) list;
    struct map by_hash;
    uint64_t bytes; // of the table so far
};
// The string with these characters, which are copied into the arena if they are new. Fails when all
// texts together become too large for a plan.
_must_check_ struct error *strings_intern(struct strings *strings, struct arena *arena,
                                          const char *chars, size_t size, struct text *ret_text);
void strings_deinit(struct strings *strings);

#endif
