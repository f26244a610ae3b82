// SPDX-License-Identifier: GPL-3.0-or-later
// Finds functions that exist only as inlined code.
#ifndef ORDEAL_DWARF_INLINED_H
#define ORDEAL_DWARF_INLINED_H

#include "dwarf/functions.h"

// Calls `found` with every address range of the functions of the queries, inlined or not.
_must_check_ struct error *dwarf_inlined_find(struct dwarf_module *module,
                                              const struct dwarf_function_query *queries,
                                              size_t count, dwarf_function_found *found,
                                              void *context);

#endif
