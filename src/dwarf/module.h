// SPDX-License-Identifier: GPL-3.0-or-later
// A module file with its debugging information, in the file or in a separate one. It is opened step
// by step: symbols are cheap, and DWARF is looked for only when it is needed. What the functions
// return belongs to the module.
#ifndef ORDEAL_DWARF_MODULE_H
#define ORDEAL_DWARF_MODULE_H

#include "elf/object.h"
#include "elf/symbols.h"

#include <elfutils/libdw.h>

struct dwarf_module;

_must_check_ struct error *dwarf_module_open(const char *path, struct dwarf_module **ret_module);
void dwarf_module_close(struct dwarf_module *module);

const struct elf_object *dwarf_module_object(const struct dwarf_module *module);

// The module's symbols. If its file is stripped, also those of the separate debug file.
_must_check_ struct error *dwarf_module_symbols(struct dwarf_module *module,
                                                const struct elf_symbols **ret_symbols);

// The module's DWARF, from its own file or from a separate debug file found by build-id or by
// .gnu_debuglink. NULL if there is none.
Dwarf *dwarf_module_dwarf(struct dwarf_module *module);

// Whether there is DWARF, without reading it.
bool dwarf_module_has_dwarf(struct dwarf_module *module);

enum dwarf_text {
    DWARF_TEXT_NAME, // of a variable or function
    DWARF_TEXT_FILE, // name of a source file, without directory
};

// Whether the string sections contain a text. If not, the DWARF need not be searched for it. This
// is much cheaper than reading the DWARF. True if in doubt.
bool dwarf_module_mentions(struct dwarf_module *module, enum dwarf_text kind, const char *text);

#endif
