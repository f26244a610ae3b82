// SPDX-License-Identifier: GPL-3.0-or-later
// What one instruction reads and changes, and where its operands stand in its bytes: for analyses
// that follow values, and for patches.
#ifndef ORDEAL_ISA_USE_H
#define ORDEAL_ISA_USE_H

#include "isa/insn.h"

// Bits of a set of places that hold values: general registers by their DWARF numbers, then vector
// registers, condition flags and the stack of the x87 unit.
#define ISA_USE_GENERAL(number) (1ull << (number))
#define ISA_USE_VECTOR(number)  (1ull << (16 + (number)))
#define ISA_USE_FLAGS           (1ull << 32)
#define ISA_USE_X87             (1ull << 33)

enum isa_operator { // what an instruction computes of its two operands
    ISA_NO_OPERATOR,
    ISA_PLUS,
    ISA_MINUS,
    ISA_TIMES,
    ISA_DIVIDED,       // quotient in rax, remainder in rdx
    ISA_FLOAT_PLUS,    // in a vector register
    ISA_FLOAT_MINUS,   //
    ISA_FLOAT_TIMES,   //
    ISA_FLOAT_DIVIDED, //
};

struct isa_use {
    uint64_t reads, writes;
    uint8_t computes; // enum isa_operator
    uint8_t modrm;    // offsets in the instruction's bytes; 0 if there is none
    uint8_t displacement, displacement_size;
    uint8_t immediate, immediate_size;
    bool extends; // rdx = sign of rax, before a division
};

// A write to a part of a register counts as a write to all of it. `x ^ x` reads nothing. A call
// reads and writes what the instruction itself names. False if there is no instruction.
bool isa_use(const struct isa_decoder *decoder, const void *bytes, size_t size,
             struct isa_use *ret_use);

#endif
