// SPDX-License-Identifier: GPL-3.0-or-later
// Copies between registers.
#ifndef ORDEAL_ISA_COPY_H
#define ORDEAL_ISA_COPY_H

#include <stdbool.h>
#include <stddef.h>

// Whether straight through `code`, which ends in a call, register `to` holds a copy of register
// `from` when the call is made. Registers have their DWARF numbers, 0 to 15.
bool isa_holds_copy(const void *code, size_t size, unsigned from, unsigned to);

#endif
