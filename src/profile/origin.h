// SPDX-License-Identifier: GPL-3.0-or-later
// Where a pointer comes from that is stored through: is it errno's address, an argument, a global?
#ifndef ORDEAL_PROFILE_ORIGIN_H
#define ORDEAL_PROFILE_ORIGIN_H

#include "profile/place.h"
#include "profile/search.h"

enum origin_kind { ORIGIN_UNKNOWN, ORIGIN_ERROR, ORIGIN_ARGUMENT, ORIGIN_GLOBAL, ORIGIN_THREAD };
struct origin {
    enum origin_kind kind;
    uint8_t argument; // from 0
    int64_t where; // address of a global, slot of a thread's variable, offset behind the argument
};

// Of the memory a store writes to. Follows the nearest way backwards: pointers are made once.
struct origin origin_of_store(const struct flow_image *image, const struct flow_block *block,
                              uint32_t fact, const struct search_world *world);

#endif
