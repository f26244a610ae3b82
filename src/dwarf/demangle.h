// SPDX-License-Identifier: GPL-3.0-or-later
// C++ and Rust names as people write them.
#ifndef ORDEAL_DWARF_DEMANGLE_H
#define ORDEAL_DWARF_DEMANGLE_H

#include <stdbool.h>

// A new string for the caller to free, or NULL if the name is not mangled or memory is short.
// Without `parameters` the parameter list is left out: "ns::f" instead of "ns::f(int)".
char *dwarf_demangle(const char *name, bool parameters);

#endif
