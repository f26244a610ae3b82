// SPDX-License-Identifier: GPL-3.0-or-later
// Demangles names with libiberty, which is plain C and knows both of Rust's schemes.
#include "dwarf/demangle.h"

#include <libiberty/demangle.h>
#include <stddef.h>

char *dwarf_demangle(const char *name, bool parameters)
{
    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
        return NULL;
    int options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
    char *text = rust_demangle(name, options); // first, as old Rust names are valid C++ names
    return text != NULL ? text : cplus_demangle_v3(name, options);
}
