// SPDX-License-Identifier: GPL-3.0-or-later
// A place in the code of a module: a return address of a stack, or the instruction that crashed.
#ifndef ORDEAL_BASE_CODE_PLACE_H
#define ORDEAL_BASE_CODE_PLACE_H

#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

struct code_place {
    char *module;    // path of a file that can be read here; NULL: there is none
    uint64_t offset; // link-time address, or without a module the address
};
struct code_places {
    ARRAY(struct code_place) items; // innermost first
};

static inline void code_places_deinit(struct code_places *places)
{
    for (size_t i = 0; i < places->items.count; i++)
        free(places->items.items[i].module);
    ARRAY_DEINIT(&places->items);
}

#endif
