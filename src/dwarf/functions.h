// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the code of functions by name, as a person writes it.
#ifndef ORDEAL_DWARF_FUNCTIONS_H
#define ORDEAL_DWARF_FUNCTIONS_H

#include "dwarf/module.h"

struct dwarf_function_query {
    const char *name; // or glob; a C++ or Rust name mangled, or from any component on: "C::f"
    unsigned number;  // handed to `found`
};

// An error ends the search and is returned by it.
typedef struct error *dwarf_function_found(void *context, unsigned number, uint64_t lo,
                                           uint64_t hi);

// Calls `found` with the code [lo, hi) of every function that matches a query, and of its parts
// that the compiler split off (f.cold, f.part.0, f.constprop.1). A function that has no symbol
// because all its calls were inlined is found where it was inlined, if the module's own file has
// DWARF.
_must_check_ struct error *dwarf_functions_find(struct dwarf_module *module,
                                                const struct dwarf_function_query *queries,
                                                size_t count, dwarf_function_found *found,
                                                void *context);

// Whether a name that a person wrote means a demangled name: the whole name or its last components,
// with or without template arguments.
bool dwarf_name_matches(const char *wanted, const char *demangled);

// The last component of a C++ or Rust name as people write it, without template arguments and
// parameters: "f" of "ns::C::f<int>(char)". May be empty.
const char *dwarf_name_last(const char *name, size_t *ret_size);

// The linkage name of what a DIE describes, or NULL.
const char *dwarf_linkage_name(Dwarf_Die *die);

// The length of a symbol's name without the suffixes of split-off parts.
size_t dwarf_name_stem(const char *name, size_t size);

#endif
