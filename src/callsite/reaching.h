// SPDX-License-Identifier: GPL-3.0-or-later
// Which value reaches a place: a constant, a call's result, or the content of a slot that the
// loader fills in, if all paths that lead there agree. A variable that a loop changes is unknown.
#ifndef ORDEAL_CALLSITE_REACHING_H
#define ORDEAL_CALLSITE_REACHING_H

#include "profile/place.h"

enum reaching_kind { REACHING_UNKNOWN, REACHING_NUMBER, REACHING_CALLED, REACHING_SLOT };
struct reaching_value {
    enum reaching_kind kind;
    int64_t number;  // REACHING_NUMBER: the constant; REACHING_SLOT: the slot's address
    uint32_t callee; // REACHING_CALLED: whose result it is
};
// The value of a place right before instruction `insn` of a block.
struct reaching_value reaching_value_find(const struct flow_image *image, uint32_t block,
                                          uint32_t insn, struct place place);

// Whether a callee returns the address of errno.
bool reaching_is_errno_location(const struct flow_image *image, uint32_t callee);

#endif
