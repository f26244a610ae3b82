// SPDX-License-Identifier: GPL-3.0-or-later
// The separate debug file of an object, if there is one.
#ifndef ORDEAL_DWARF_DEBUG_FILE_H
#define ORDEAL_DWARF_DEBUG_FILE_H

#include "elf/object.h"

#include <libelf.h>

struct dwarf_debug_file {
    int file; // -1: there is none
    Elf *elf;
};

// Looks below /usr/lib/debug by build-id, then for the file named in .gnu_debuglink beside the
// object, in .debug beside it and below /usr/lib/debug. A file of another build is skipped. A file
// that cannot be read counts as missing.
struct dwarf_debug_file dwarf_debug_file_find(const struct elf_object *object);
void dwarf_debug_file_close(struct dwarf_debug_file *file);

#endif
