// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that exist only as inlined code.
#ifndef ORDEAL_DWARF_INLINED_H
#define ORDEAL_DWARF_INLINED_H

#include "dwarf/functions.h"

// Calls `found` with every address range of the functions asked for, inlined or not.
_must_check_ struct error *dwarf_inlined_find(struct dwarf_module *module,
                                              const struct dwarf_function_query *queries,
                                              size_t count, dwarf_function_found *found,
                                              void *context);

#endif
