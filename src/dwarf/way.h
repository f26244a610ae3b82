// SPDX-License-Identifier: GPL-3.0-or-later
// The way over pointers from a parameter of a function, or its result, to memory, in the words of
// the declarations: "strm->state->window[3]".
#ifndef ORDEAL_DWARF_WAY_H
#define ORDEAL_DWARF_WAY_H

#include "base/array.h"
#include "dwarf/module.h"

#define DWARF_WAY_RESULT UINT32_MAX

// Appends it. `parameter` counts those that are in general registers, from 0. A pointer is at each
// of the offsets from where the pointer before leads to, and the memory at the last one. Nothing is
// appended, and *ret_known false, if the declarations do not say so much.
_must_check_ struct error *dwarf_way_name(struct dwarf_module *module, const char *function,
                                          uint32_t parameter, const int64_t *offsets, size_t count,
                                          struct buffer *text, bool *ret_known);

#endif
