// SPDX-License-Identifier: GPL-3.0-or-later
// Registers, flags and the memory that matters, and what one instruction makes of them.
#ifndef ORDEAL_CALLSITE_MACHINE_H
#define ORDEAL_CALLSITE_MACHINE_H

#include "callsite/content.h"
#include "flow/image.h"

#define MACHINE_CELLS 20

// Bases of addresses. Others are made up where something unknown is first used.
enum machine_base {
    BASE_FRAME = 1,   // the stack pointer at the function's entry
    BASE_GLOBAL,      // offsets are link-time addresses
    BASE_THREAD,      // the thread's storage
    BASE_ERROR,       // errno's address
    BASE_ERROR_VALUE, // what is in it: a number without a name of its own
    BASE_REGISTER = 16,
};

struct cell {
    uint64_t base;
    int64_t offset;
    uint16_t content;
    uint8_t width;
};

struct machine_flags { // how they came to be
    uint8_t kind;      // ISA_COMPARE, ISA_TEST, ISA_ADD, …; ISA_OTHER: nobody knows
    uint8_t width;
    uint16_t left, right;
};

struct machine {
    uint16_t registers[ISA_REGISTERS];
    struct machine_flags flags;
    uint8_t cell_count;
    struct cell cells[MACHINE_CELLS];
};

// As it is right after a call; `stack` and `frame` as in struct flow_block.
void machine_start(struct machine *machine, struct contents *contents, int32_t stack,
                   int32_t frame);
// What a call leaves of it.
void machine_after_call(struct machine *machine, const struct contents *contents);

// Where a memory operand leads to, if that can be told; makes up a name for what is unknown.
bool machine_address(struct machine *machine, struct contents *contents,
                     const struct flow_image *image, uint32_t insn, struct cell *ret_where);
// What is there: `width` bytes of it.
uint16_t machine_load(struct machine *machine, struct contents *contents,
                      const struct flow_image *image, uint32_t insn, unsigned width);

// One instruction that is neither call nor jump nor select.
void machine_step(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t insn);

// Whether a condition holds for a lane: 1, 0, or -1 if that cannot be told.
int machine_condition(const struct machine *machine, const struct contents *contents,
                      enum isa_condition condition, unsigned lane);
// Whether the flags depend on the call's result.
bool machine_flags_derived(const struct machine *machine, const struct contents *contents);

#endif
