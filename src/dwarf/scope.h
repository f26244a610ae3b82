// SPDX-License-Identifier: GPL-3.0-or-later
// Locals of one function, and how inner ones shadow outer ones of the same name.
#ifndef ORDEAL_DWARF_SCOPE_H
#define ORDEAL_DWARF_SCOPE_H

#include "base/array.h"
#include "dwarf/variables.h"

// A local of the function, before shadowing is applied.
struct dwarf_local {
    struct dwarf_variable variable;
    unsigned depth;
};

// Code where a name is declared at a depth, whether or not its value could be located.
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

// Reports every local for the code where no deeper one of its name is in scope. Then forgets all.
_must_check_ struct error *dwarf_locals_flush(struct dwarf_locals *locals,
                                              const struct dwarf_variable_listener *listener);

#endif
