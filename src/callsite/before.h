// SPDX-License-Identifier: GPL-3.0-or-later
// What a place held before: a constant, a call's result or something the loader fills in, if all
// ways that lead there agree. A variable that a loop changes is none of these.
#ifndef ORDEAL_CALLSITE_BEFORE_H
#define ORDEAL_CALLSITE_BEFORE_H

#include "profile/place.h"

enum before_kind { BEFORE_UNKNOWN, BEFORE_NUMBER, BEFORE_CALLED, BEFORE_SLOT };
struct before {
    enum before_kind kind;
    int64_t number;  // of BEFORE_NUMBER; the slot's address of BEFORE_SLOT
    uint32_t callee; // whose result it is, of BEFORE_CALLED
};
// A place right before an instruction of a block.
struct before before_find(const struct flow_image *image, uint32_t block, uint32_t fact,
                          struct place place);

// Whether a callee gives the address of errno.
bool before_is_error_location(const struct flow_image *image, uint32_t callee);

#endif
