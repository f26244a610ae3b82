// SPDX-License-Identifier: GPL-3.0-or-later
// One instruction, reduced to what analyses of constants, checks and control flow need. The kinds
// are of no particular processor; a port to another one needs another insn.c.
#ifndef ORDEAL_ISA_INSN_H
#define ORDEAL_ISA_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Registers have their DWARF numbers: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp,
// r8..r15.
#define ISA_REGISTERS 16
#define ISA_PC        16 // as a base: `displacement` is a link-time address
#define ISA_NONE      0xff
#define ISA_RETURN    0 // rax
#define ISA_STACK     7 // rsp
#define ISA_FRAME     6 // rbp

enum isa_kind {
    ISA_OTHER,           // changes the registers of `writes` in an unknown way
    ISA_NOTHING,         // nop, endbr
    ISA_CONSTANT,        // dst = value
    ISA_COPY,            // dst = src, `from` bytes of it
    ISA_LOAD,            // dst = [memory], `from` bytes of it
    ISA_STORE,           // [memory] = src, or something unknown if src is ISA_NONE
    ISA_STORE_CONSTANT,  // [memory] = value
    ISA_ADDRESS,         // dst = address of memory
    ISA_ADD,             // dst += value, or src if there is one
    ISA_SUBTRACT,        // dst -= src
    ISA_SUBTRACT_MEMORY, // dst -= [memory]
    ISA_ADD_CARRY,       // dst += value + carry
    ISA_SUBTRACT_CARRY,  // dst += value - carry
    ISA_AND,             // dst &= value, or src
    ISA_OR,              // dst |= value, or src
    ISA_XOR,             // dst ^= value, or src
    ISA_SHIFT_LEFT,      // dst <<= value, or src
    ISA_SHIFT_RIGHT,     // dst >>= value, or src; zeros come in
    ISA_SHIFT_SIGNED,    // dst >>= value, or src; copies of the sign come in
    ISA_NEGATE,          // dst = -dst
    ISA_INVERT,          // dst = ~dst
    ISA_BORROW,          // dst = carry ? -1 : 0
    ISA_SET,             // dst or [memory] = condition ? 1 : 0
    ISA_SELECT,          // if (condition) dst = src, or [memory]
    ISA_COMPARE,         // src or [memory] with dst, or with value if dst is ISA_NONE
    ISA_TEST,            // the same operands, combined by AND
    ISA_COMPARE_MEMORY,  // src with [memory]
    ISA_BIT,             // carry = bit number dst, or value if dst is ISA_NONE, of src
    ISA_PUSH,            // src, or value if src is ISA_NONE; unknown if ISA_MEMORY is set
    ISA_POP,             // dst
    ISA_LEAVE,
    ISA_CALL,          // value: target address
    ISA_CALL_INDIRECT, // through src or [memory]
    ISA_JUMP,          // value: target address
    ISA_JUMP_INDIRECT, // through src or [memory]
    ISA_BRANCH,        // if (condition) to value
    ISA_RET,           // ret
    ISA_SYSCALL,
    ISA_STOP, // execution ends here: ud2, hlt, int3
};

// In the processor's numbering: the lowest bit negates.
enum isa_condition {
    ISA_IF_O,
    ISA_IF_NO,
    ISA_IF_B,
    ISA_IF_AE,
    ISA_IF_E,
    ISA_IF_NE,
    ISA_IF_BE,
    ISA_IF_A,
    ISA_IF_S,
    ISA_IF_NS,
    ISA_IF_P,
    ISA_IF_NP,
    ISA_IF_L,
    ISA_IF_GE,
    ISA_IF_LE,
    ISA_IF_G,
    ISA_IF_UNKNOWN,
};

enum isa_flag {
    ISA_SCALE = 3,       // log2 of the index's scale
    ISA_MEMORY = 1 << 2, // has a memory operand: base, index, displacement
    ISA_THREAD = 1 << 3, // the operand is relative to the thread's storage
    ISA_SIGNED = 1 << 4, // a source narrower than dst is sign-extended; otherwise zero-extended
    ISA_FLAGS = 1 << 5,  // changes the condition flags
    ISA_RESULT = 1 << 6, // the flags describe the result in dst, as if it were compared with 0
    ISA_FLOAT = 1 << 7,  // writes the register in which functions return floating-point numbers; of
                         // ISA_NOTHING: drops what is there
};

struct isa_insn {    // 32 bytes: there is one for every instruction of a library
    uint32_t offset; // of the instruction; the caller decides from where
    uint8_t length;
    uint8_t kind;  // enum isa_kind
    uint8_t width; // bytes of dst or memory that are written or compared
    uint8_t from;  // bytes that are read of src or memory
    uint8_t dst, src, base, index;
    uint8_t flags;
    uint8_t condition; // enum isa_condition
    uint16_t writes;   // registers it changes, without those that a called function may change
    int64_t value;
    int64_t displacement;
};

struct isa_decoder {
    uint64_t words[4]; // opaque
};
void isa_decoder_init(struct isa_decoder *decoder);

// Decodes the instruction at the beginning of `bytes`, whose link-time address is `address`. False
// if it is none, or if Zydis cannot be loaded; see isa_need().
bool isa_decode(const struct isa_decoder *decoder, const void *bytes, size_t size, uint64_t address,
                struct isa_insn *ret_insn);

#endif
