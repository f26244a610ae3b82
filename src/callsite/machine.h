// SPDX-License-Identifier: GPL-3.0-or-later
// An abstract machine: registers, flags and a few memory cells, and what instructions do to them.
// Plain values that can be copied; contents belong to struct contents. Nothing here fails: what is
// not understood is unknown.
#ifndef ORDEAL_CALLSITE_MACHINE_H
#define ORDEAL_CALLSITE_MACHINE_H

#include "callsite/content.h"
#include "flow/image.h"

#define MACHINE_CELLS 20

// Bases of addresses. New ones are made where something unknown is first used.
enum machine_base {
    BASE_FRAME = 1,   // the stack pointer at the function's entry
    BASE_GLOBAL,      // offsets are link-time addresses
    BASE_THREAD,      // the thread's storage
    BASE_ERROR,       // errno's address
    BASE_ERROR_VALUE, // the value of errno
    BASE_REGISTER = 16,
};

struct cell {
    uint64_t base;
    int64_t offset;
    uint16_t content;
    uint8_t width;
};

struct machine_flags { // the operation that set them
    uint8_t kind;      // ISA_COMPARE, ISA_TEST, ISA_ADD, …; ISA_OTHER: unknown
    uint8_t width;
    uint16_t left, right;
};

struct machine {
    uint16_t registers[ISA_REGISTERS];
    struct machine_flags flags;
    uint8_t cell_count;
    struct cell cells[MACHINE_CELLS];
};

// The state right after a call. `stack` and `frame` are as in struct flow_block.
void machine_start(struct machine *machine, struct contents *contents, int32_t stack,
                   int32_t frame);
// Forgets what a call may have changed.
void machine_after_call(struct machine *machine, const struct contents *contents);

// The address of a memory operand, false if it is unknown. An unknown register gets a new base.
bool machine_address(struct machine *machine, struct contents *contents,
                     const struct flow_image *image, uint32_t insn, struct cell *ret_where);
// The content of a memory operand: `width` bytes.
uint16_t machine_load(struct machine *machine, struct contents *contents,
                      const struct flow_image *image, uint32_t insn, unsigned width);

// Writes a cell; what it overlaps is forgotten.
void machine_write(struct machine *machine, const struct contents *contents, struct cell cell);

// Executes an instruction that is no call, jump or select.
void machine_step(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t insn);

// Whether a condition holds after an operation on two numbers: 1, 0, or -1 if unknown. Of `flags`
// only kind and width are used.
int condition_holds(const struct machine_flags *flags, int64_t left, int64_t right,
                    enum isa_condition condition);
// The same for a lane.
int machine_condition(const struct machine *machine, const struct contents *contents,
                      enum isa_condition condition, unsigned lane);
// Whether the flags depend on the call's result.
bool machine_flags_derived(const struct machine *machine, const struct contents *contents);

#endif
