// SPDX-License-Identifier: GPL-3.0-or-later
// Types, as far as expressions like `a.b->c[2]` need them. Functions that return a text return NULL
// on success, and otherwise a constant text that says why not.
#ifndef ORDEAL_DWARF_TYPES_H
#define ORDEAL_DWARF_TYPES_H

#include "dwarf/place.h"

enum dwarf_selector_kind {
    DWARF_SELECT_MEMBER,      // .name
    DWARF_SELECT_ARROW,       // ->name
    DWARF_SELECT_INDEX,       // [n]
    DWARF_SELECT_DEREFERENCE, // *
};

struct dwarf_selector {
    enum dwarf_selector_kind kind;
    const char *name;
    int64_t index;
};

struct dwarf_type {
    Dwarf_Die die;
    bool is_void;
    unsigned dimension; // of an array: how many indexes were applied already
};

// A scalar to be read: 1, 2, 4 or 8 bytes; 0 bytes means that the address is the value.
struct dwarf_scalar {
    unsigned width;
    bool is_signed;
};

// The type in DW_AT_type of a variable or member.
bool dwarf_type_of(Dwarf_Die *die, struct dwarf_type *ret_type);

// Strips typedefs and qualifiers. Returns the tag of what is inside, DW_TAG_unspecified_type for
// void, 0 if it cannot be read.
int dwarf_type_peel(struct dwarf_type *type);
// The same, and goes from what stands for a structure of another unit to the structure.
int dwarf_type_core(struct dwarf_type *type);
bool dwarf_type_size(struct dwarf_type type, uint64_t *ret_size);
// Where a member is in its structure.
bool dwarf_member_offset(Dwarf_Die *member, uint64_t *ret_offset);

// Applies a selector to a place and its type.
const char *dwarf_type_select(struct dwarf_type *type, struct dwarf_place *place,
                              const struct dwarf_selector *selector);

// How to read a value of the type. A reference is followed to what it refers to.
const char *dwarf_type_read(struct dwarf_type *type, struct dwarf_place *place,
                            struct dwarf_scalar *ret_scalar);

#endif
