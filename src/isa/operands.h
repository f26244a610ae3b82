// SPDX-License-Identifier: GPL-3.0-or-later
// What an instruction reads, to the bit: registers, flags and memory, each with the part of it that
// is read; and which registers it changes. isa/use.h is coarser.
#ifndef ORDEAL_ISA_OPERANDS_H
#define ORDEAL_ISA_OPERANDS_H

#include "isa/insn.h"

#define ISA_READS   16
#define ISA_CHANGES 16

enum isa_read_kind {
    ISA_READ_GENERAL, // by DWARF number
    ISA_READ_VECTOR,
    ISA_READ_FLAGS,
    ISA_READ_MEMORY,
};

struct isa_read {
    uint8_t kind; // enum isa_read_kind
    uint8_t number;
    uint16_t first_bit, bits; // of a register; of memory, bits from its address on
    uint16_t flags;           // mask of the flags
    bool address;             // of a register: only as a part of an address
    bool written;             // of memory: also written
    // Of memory: base ISA_PC means that `displacement` is a link-time address.
    uint8_t base, index, scale;
    int64_t displacement;
};

// A part of a general register that is written.
struct isa_change {
    uint8_t number; // DWARF
    uint8_t first_bit, bits;
    bool always; // not only under a condition
};

struct isa_reads {
    struct isa_read items[ISA_READS];
    size_t count;
    struct isa_change changes[ISA_CHANGES];
    size_t change_count;
    uint16_t flags_written; // mask
    bool flags_may_stay;    // as they are: a shift by 0, a string of no length
    bool repeats;           // a string instruction with a prefix
    bool system_call;
};

// False if there is no instruction. Memory relative to a segment is left out, and so are x87 and
// mask registers. Registers that are cleared by themselves (`xor eax, eax`) are not read.
bool isa_reads(const struct isa_decoder *decoder, const void *bytes, size_t size, uint64_t address,
               struct isa_reads *ret_reads);

#endif
