// SPDX-License-Identifier: GPL-3.0-or-later
// What a place held before: a constant, a call's result or something the loader fills in, if all
// paths that lead there agree. A variable that a loop changes is none of these.
#ifndef ORDEAL_CALLSITE_REACHING_H
#define ORDEAL_CALLSITE_REACHING_H

#include "profile/place.h"

enum reaching_kind { REACHING_UNKNOWN, REACHING_NUMBER, REACHING_CALLED, REACHING_SLOT };
struct reaching_value {
    enum reaching_kind kind;
    int64_t number;  // of BEFORE_NUMBER; the slot's address of BEFORE_SLOT
    uint32_t callee; // whose result it is, of BEFORE_CALLED
};
// A place right before an instruction of a block.
struct reaching_value reaching_value_find(const struct flow_image *image, uint32_t block,
                                          uint32_t insn, struct place place);

// Whether a callee gives the address of errno.
bool reaching_is_errno_location(const struct flow_image *image, uint32_t callee);

#endif
