// SPDX-License-Identifier: GPL-3.0-or-later
// Where a pointer comes from that is stored through: is it errno's address, an argument, a global?
#ifndef ORDEAL_PROFILE_ORIGIN_H
#define ORDEAL_PROFILE_ORIGIN_H

#include "profile/place.h"
#include "profile/search.h"

enum origin_kind {
    ORIGIN_UNKNOWN,
    ORIGIN_ERROR,
    ORIGIN_ARGUMENT,
    ORIGIN_GLOBAL,
    ORIGIN_THREAD,     // a thread's variable, by the slot that leads to it
    ORIGIN_OWN_THREAD, // likewise one of the module's own, by its offset
};
struct origin {
    enum origin_kind kind;
    uint8_t argument; // from 0
    int64_t where; // address of a global, slot or offset of a thread's variable, offset behind the
                   // argument
};

// Of the memory a store writes to. Follows the nearest way backwards: pointers are made once.
struct origin origin_of_store(const struct flow_image *image, const struct flow_block *block,
                              uint32_t insn, const struct search_context *context);

// Of a pointer in a register, in front of instruction `insn`.
struct origin origin_of_register(const struct flow_image *image, const struct flow_block *block,
                                 uint32_t insn, uint8_t reg, const struct search_context *context);

#endif
