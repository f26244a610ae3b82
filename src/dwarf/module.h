// SPDX-License-Identifier: GPL-3.0-or-later
// A module file with its debugging information, wherever that is. Opened step by step: symbols cost
// little, DWARF is looked for only when it is asked for.
#ifndef ORDEAL_DWARF_MODULE_H
#define ORDEAL_DWARF_MODULE_H

#include "elf/object.h"
#include "elf/symbols.h"

#include <elfutils/libdw.h>

struct dwarf_module;

_must_check_ struct error *dwarf_module_open(const char *path, struct dwarf_module **ret_module);
void dwarf_module_close(struct dwarf_module *module);

const struct elf_object *dwarf_module_object(const struct dwarf_module *module);

// The module's symbols; if its own file is stripped, with those of the separate debug file.
_must_check_ struct error *dwarf_module_symbols(struct dwarf_module *module,
                                                const struct elf_symbols **ret_symbols);

// The module's DWARF, from its own file or from a separate debug file found by build-id or by
// .gnu_debuglink. NULL if there is none.
Dwarf *dwarf_module_dwarf(struct dwarf_module *module);

// Whether there is DWARF to look into, without reading it.
bool dwarf_module_has_dwarf(struct dwarf_module *module);

enum dwarf_text {
    DWARF_TEXT_NAME, // of a variable or function
    DWARF_TEXT_FILE, // name of a source file, without directory
};

// Whether the sections where such a text would stand hold it: if not, it need not be looked for.
// Much cheaper than reading the DWARF.
bool dwarf_module_mentions(struct dwarf_module *module, enum dwarf_text kind, const char *text);

#endif
