// SPDX-License-Identifier: GPL-3.0-or-later
// What the addresses in a trace mean, put between the blocks of the tool while they arrive. So a
// trace can be compared where the program and the libraries are not, or are others by now.
#ifndef ORDEAL_INTERFACE_NAMES_H
#define ORDEAL_INTERFACE_NAMES_H

#include "interface/trace-file.h"

struct names;
_must_check_ struct error *names_new(struct names **ret_names);
void names_free(struct names *names);
// Writes a block of the tool, and blocks of names before and behind it as needed.
_must_check_ struct error *names_write(struct names *names, const struct interface_block *block,
                                       struct trace_writer *writer);
// Whether a target library was mapped in any process.
bool names_saw_library(const struct names *names);

#endif
