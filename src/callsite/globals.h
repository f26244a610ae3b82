// SPDX-License-Identifier: GPL-3.0-or-later
// Which global variables of a module, and which members of its structures, are compared with which
// numbers, anywhere in it. A member is known by its offset and size only.
#ifndef ORDEAL_CALLSITE_GLOBALS_H
#define ORDEAL_CALLSITE_GLOBALS_H

#include "base/array.h"
#include "base/error.h"
#include "flow/image.h"

struct compared_global {
    uint64_t address; // or compared_member()
    int64_t number;
};

struct compared_globals {
    ARRAY(struct compared_global) items; // sorted
    bool found;                          // it was filled in
};
void compared_globals_deinit(struct compared_globals *globals);
// Fills it in, unless that was done before.
_must_check_ struct error *compared_globals_find(const struct flow_image *image,
                                                 struct compared_globals *globals);
// The name of a member: what compared_globals_has() takes for an address.
uint64_t compared_member(int64_t offset, unsigned width);
bool compared_globals_has(const struct compared_globals *globals, uint64_t address, int64_t number);

#endif
