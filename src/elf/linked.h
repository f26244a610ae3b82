// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries in a directory.
#ifndef ORDEAL_ELF_LINKED_H
#define ORDEAL_ELF_LINKED_H

#include "base/error.h"

#include <stdbool.h>

// Whether a file is a program or shared library for 64 bits; not an object that is still to be
// linked.
bool elf_is_linked(const char *path);

// Calls `found` for each such file below a directory, by its path without links; what cannot be
// read is left out. *ret_cut: there were too many files to look at all of them.
_must_check_ struct error *elf_linked_below(const char *directory,
                                            struct error *(*found)(void *data, const char *path),
                                            void *data, bool *ret_cut);

#endif
