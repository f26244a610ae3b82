// SPDX-License-Identifier: GPL-3.0-or-later
// From the place of a value to the expression that a programmer would write for it: the opposite of
// variables.h.
#ifndef ORDEAL_DWARF_NAMING_H
#define ORDEAL_DWARF_NAMING_H

#include "base/error.h"
#include "dwarf/module.h"
#include "dwarf/place.h"

struct dwarf_name {
    char *expression; // "cfg->name"; NULL: not known
    char *member;     // what all objects of the type share: "config.name"; NULL: no member, or of a
                      // type without a name
    bool local;       // a variable of a function, or a parameter, itself
};
void dwarf_name_deinit(struct dwarf_name *name);

// What the place is called in the source of the code at `pc`. A base in a register is the one that
// the register holds there. An error only means that memory is short.
_must_check_ struct error *dwarf_place_name(struct dwarf_module *module, uint64_t pc,
                                            const struct dwarf_place *place,
                                            struct dwarf_name *ret_name);

#endif
