// SPDX-License-Identifier: GPL-3.0-or-later
// Scopes of a function and what is in them: shadowing between locals of one name.
#ifndef ORDEAL_DWARF_SCOPE_H
#define ORDEAL_DWARF_SCOPE_H

#include "base/array.h"
#include "dwarf/variables.h"

// The locals found in one function, before the inner ones have cut into the outer ones.
struct dwarf_local {
    struct dwarf_variable variable;
    unsigned depth;
};

// Where a name is declared at a depth, whether or not it could be located there.
struct dwarf_shadow {
    unsigned number, depth;
    uint64_t lo, hi;
};

struct dwarf_locals {
    ARRAY(struct dwarf_local) found;
    ARRAY(struct dwarf_shadow) shadows;
};

void dwarf_locals_deinit(struct dwarf_locals *locals);
_must_check_ struct error *dwarf_locals_add(struct dwarf_locals *locals,
                                            const struct dwarf_variable *variable, unsigned depth);
_must_check_ struct error *dwarf_locals_shadow(struct dwarf_locals *locals, unsigned number,
                                               unsigned depth, uint64_t lo, uint64_t hi);

// Reports every local where no deeper one of the name is in scope, then forgets all.
_must_check_ struct error *dwarf_locals_flush(struct dwarf_locals *locals,
                                              const struct dwarf_variable_listener *listener);

#endif
