// SPDX-License-Identifier: GPL-3.0-or-later
// Which functions a stopped thread is in: such a function goes on as it was when a fault is enabled
// in it, since the way to the faulty code is at its beginning.
#ifndef ORDEAL_MUTATE_RUNNING_H
#define ORDEAL_MUTATE_RUNNING_H

#include "mutate/image.h"

// Where the pristine code of functions is: of those with entries, and of static ones that have a
// symbol.
struct running_range {
    uint64_t start, end; // link-time addresses
    size_t function;
};
struct running_ranges {
    ARRAY(struct running_range) items; // by start
};
_must_check_ struct error *running_ranges_find(const struct image *image,
                                               struct running_ranges *ret_ranges);
void running_ranges_deinit(struct running_ranges *ranges);

// Sets the flag of every function that a thread is in: by its instruction pointer, and by the words
// of its stack that look like return addresses. `memory` is /proc/PID/mem.
_must_check_ struct error *running_mark(const struct running_ranges *ranges, int memory,
                                        uint64_t instruction, uint64_t stack, uint64_t bias,
                                        bool *running);
// Whether a word of the stack may be a return address that leads into bytes that are changed,
// behind the first of them.
_must_check_ struct error *running_returns_into(const struct image_patches *patches, int memory,
                                                uint64_t stack, uint64_t bias, bool *ret_found);

#endif
