// SPDX-License-Identifier: GPL-3.0-or-later
// Finds functions that exist only as inlined code.
#ifndef ORDEAL_DWARF_INLINED_H
#define ORDEAL_DWARF_INLINED_H

#include "dwarf/functions.h"
#include "dwarf/symbolizer.h"

// Calls `found` with every address range of the functions of the queries, inlined or not.
_must_check_ struct error *dwarf_inlined_find(struct dwarf_module *module,
                                              const struct dwarf_function_query *queries,
                                              size_t count, dwarf_function_found *found,
                                              void *context);
// Calls `found` with the file and line of every call whose function was inlined, and of what copies
// its arguments.
_must_check_ struct error *dwarf_inlined_calls(struct dwarf_module *module, dwarf_call_found *found,
                                               void *context);
// Whether the programmer asked for an inlined function to be inlined.
bool dwarf_inlined_asked(Dwarf_Die *inlined);
// Where an inlined function is called from; NULL if that is unknown.
const char *dwarf_inlined_call(Dwarf_Die *unit, Dwarf_Die *inlined, unsigned *ret_line);

#endif
