// SPDX-License-Identifier: GPL-3.0-or-later
// What this room's readers of operands share.
#ifndef ORDEAL_ISA_ZYDIS_OPERANDS_H
#define ORDEAL_ISA_ZYDIS_OPERANDS_H

#include "isa/zydis.h"

#include <stdbool.h>
#include <stdint.h>

// The DWARF number of the general register that `name` is a part of, or ISA_NONE.
uint8_t isa_general_number(const struct zydis *library, ZydisRegister name);
// Whether an instruction only sets a register to 0, by combining it with itself.
bool isa_clears(const ZydisDecodedInstruction *head, const ZydisDecodedOperand *operands);

#endif
