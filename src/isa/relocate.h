// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of instructions that work at another place.
#ifndef ORDEAL_ISA_RELOCATE_H
#define ORDEAL_ISA_RELOCATE_H

#include "isa/insn.h"

#define ISA_RELOCATED 16 // bytes at most

struct isa_relocated {
    unsigned char bytes[ISA_RELOCATED];
    size_t size;
    // The four bytes at `displacement` (0: none) lead to link-time address `target`, counted from
    // the end of the instruction.
    size_t displacement;
    uint64_t target;
};

// False if there is no instruction, or none that can be copied: calls, which leave their own
// address on the stack, and loops with a short distance only.
bool isa_relocate(const struct isa_decoder *decoder, const void *bytes, size_t size,
                  uint64_t address, struct isa_relocated *ret_copy);

#endif
