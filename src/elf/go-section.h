// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the table of Go's functions in a file.
#ifndef ORDEAL_ELF_GO_SECTION_H
#define ORDEAL_ELF_GO_SECTION_H

#include "elf/go-table.h"

#include <libelf.h>

// False: the file has none of a known format. The table lives as long as `elf`.
bool go_section_read(Elf *elf, struct go_table *ret_table);

#endif
