// SPDX-License-Identifier: GPL-3.0-or-later
// Where a pointer comes from: whether it is the address of errno, an argument or a global.
#ifndef ORDEAL_PROFILE_ORIGIN_H
#define ORDEAL_PROFILE_ORIGIN_H

#include "profile/place.h"
#include "profile/search.h"

enum origin_kind {
    ORIGIN_UNKNOWN,
    ORIGIN_ERROR,
    ORIGIN_ARGUMENT,
    ORIGIN_GLOBAL,
    ORIGIN_THREAD,     // a thread variable, identified by its slot
    ORIGIN_OWN_THREAD, // a thread variable of the module itself, identified by its offset
};
struct origin {
    enum origin_kind kind;
    uint8_t argument; // from 0
    int64_t where; // address of a global, slot or offset of a thread's variable, offset behind the
                   // argument
};

// The origin of the address of an instruction's memory operand. Follows only one path backwards,
// because a pointer is usually made in one place.
struct origin origin_of_memory(const struct flow_image *image, const struct flow_block *block,
                               uint32_t insn, const struct search_context *context);

// The origin of a pointer that a register holds in front of instruction `insn`.
struct origin origin_of_register(const struct flow_image *image, const struct flow_block *block,
                                 uint32_t insn, uint8_t reg, const struct search_context *context);

#endif
