// SPDX-License-Identifier: GPL-3.0-or-later
// Where a value is, as a recipe that works without DWARF: a base, an offset, then loads. Made from
// location expressions, and extended by members, indexes and dereferences.
#ifndef ORDEAL_DWARF_PLACE_H
#define ORDEAL_DWARF_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_PLACE_STEPS 24

enum dwarf_base {
    DWARF_BASE_STATIC,   // link-time address
    DWARF_BASE_CFA,      // the frame's canonical frame address
    DWARF_BASE_REGISTER, // content of a register
};

struct dwarf_step { // address = *address if `load`, then address += offset
    bool load;
    int64_t offset;
};

struct dwarf_place {
    enum dwarf_base base;
    unsigned reg; // DWARF number
    int64_t offset;
    struct dwarf_step steps[DWARF_PLACE_STEPS];
    size_t step_count;
    bool is_value;                  // what the recipe yields is the value itself, not its address
    unsigned bit_offset, bit_width; // the part of it that counts; bit_width 0 = all
};

// These return NULL, or a constant text that says why it cannot be done.
const char *dwarf_place_add(struct dwarf_place *place, int64_t offset);
const char *dwarf_place_load(struct dwarf_place *place);
const char *dwarf_place_bits(struct dwarf_place *place, uint64_t bit_offset, unsigned bit_width);

// The place a location expression describes. `attribute` is the one it was read from;
// `frame_base` is the place of the function's frame base, or NULL where there is none.
const char *dwarf_place_evaluate(Dwarf_Attribute *attribute, const Dwarf_Op *operations,
                                 size_t count, const struct dwarf_place *frame_base,
                                 struct dwarf_place *ret_place);

#endif
