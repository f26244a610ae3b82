// SPDX-License-Identifier: GPL-3.0-or-later
// Line tables by address, one compilation unit at a time.
#ifndef ORDEAL_DWARF_LINES_H
#define ORDEAL_DWARF_LINES_H

#include "dwarf/module.h"

struct dwarf_unit_range {
    uint64_t lo, hi;
    Dwarf_Off unit; // offset of the unit's DIE
};

// Which unit covers an address. Made from the ranges of the units, because some compilers leave out
// .debug_aranges.
struct dwarf_units {
    ARRAY(struct dwarf_unit_range) ranges; // by lo
};

_must_check_ struct error *dwarf_units_load(Dwarf *dwarf, struct dwarf_units *ret_units);
void dwarf_units_deinit(struct dwarf_units *units);

// The row of the line table that an address belongs to, or NULL. It belongs to libdw.
Dwarf_Line *dwarf_units_find_line(const struct dwarf_units *units, Dwarf *dwarf, uint64_t address);

// The DIE of the unit that covers an address; false if there is none.
bool dwarf_units_find(const struct dwarf_units *units, Dwarf *dwarf, uint64_t address,
                      Dwarf_Die *ret_die);

struct dwarf_line_query {
    const char *file; // matches paths that end in it, at a component boundary
    unsigned line;
    unsigned number; // handed to `found`
};

// An error ends the search and is returned by it.
typedef struct error *dwarf_line_found(void *context, unsigned number, uint64_t lo, uint64_t hi);

// Calls `found` with every address range [lo, hi) that the module's line tables have for a line of
// the queries.
_must_check_ struct error *dwarf_lines_find(struct dwarf_module *module,
                                            const struct dwarf_line_query *queries, size_t count,
                                            dwarf_line_found *found, void *context);

#endif
