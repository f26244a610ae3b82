// SPDX-License-Identifier: GPL-3.0-or-later
// Finds variables by name, and how to read a value in them.
#ifndef ORDEAL_DWARF_VARIABLES_H
#define ORDEAL_DWARF_VARIABLES_H

#include "dwarf/module.h"
#include "dwarf/types.h"

struct dwarf_variable_query {
    const char *function; // the function, or for a global the namespace or class, or NULL for any
    const char *name;
    const struct dwarf_selector *selectors;
    size_t selector_count;
    unsigned number; // handed to the callbacks
};

// A value that can be read while a frame's pc is in [lo, hi). For a global that is 0..UINT64_MAX.
// For one query, the ranges of locals do not overlap, and there is at most one global.
struct dwarf_variable {
    unsigned number;
    uint64_t lo, hi;
    struct dwarf_place place;
    struct dwarf_scalar scalar;
};

struct dwarf_variable_listener {
    struct error *(*found)(void *context, const struct dwarf_variable *variable);
    // A variable of that name exists, but it cannot be read, or not everywhere. May be NULL.
    void (*missed)(void *context, unsigned number, const char *why);
    // Whether the code [lo, hi), which ends in a call, leaves a copy of register `from` in register
    // `to`; may be NULL.
    bool (*copied)(void *context, uint64_t lo, uint64_t hi, unsigned from, unsigned to);
    void *context;
};

_must_check_ struct error *dwarf_variables_find(struct dwarf_module *module,
                                                const struct dwarf_variable_query *queries,
                                                size_t count,
                                                const struct dwarf_variable_listener *listener);

#endif
