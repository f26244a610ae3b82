// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a value backwards: where it was one instruction earlier. A place is a register, a stack
// slot or errno. Nothing here fails: what is not understood is STEP_LOST or false.
#ifndef ORDEAL_PROFILE_PLACE_H
#define ORDEAL_PROFILE_PLACE_H

#include "flow/image.h"
#include "profile/value.h"

enum place_kind {
    PLACE_REGISTER,
    PLACE_STACK,
    PLACE_ERROR, // errno; only search-error.c knows which instructions read and write it
};
struct place {
    uint8_t kind;
    uint8_t reg;
    int32_t slot; // relative to the stack pointer at the function's entry
};

static inline struct place place_register(uint8_t reg)
{
    return (struct place){.kind = PLACE_REGISTER, .reg = reg};
}
static inline bool place_equal(struct place a, struct place b)
{
    return a.kind == b.kind && (a.kind == PLACE_REGISTER ? a.reg == b.reg : a.slot == b.slot);
}
static inline struct place place_error(void)
{
    return (struct place){.kind = PLACE_ERROR};
}

// The stack slot that a memory operand refers to; false if it is none.
bool place_of_memory(const struct flow_image *image, const struct flow_block *block, uint32_t insn,
                     struct place *ret_place);

// The number of the argument that a place holds when a function begins, from 0; -1 if it is none.
int place_argument(struct place place);
// Where argument `number` is passed; false if that is not in a register.
bool place_of_argument(unsigned number, struct place *ret_place);
bool place_of_system_argument(unsigned number, struct place *ret_place); // to a system call

enum step_kind {
    STEP_SAME,      // the instruction does not concern the place
    STEP_MOVED,     // it was in `place`, and `operations` were applied, the last one first
    STEP_CONSTANT,  // it is `constant` from here on
    STEP_SELECTED,  // it was in `place` if `condition` held, otherwise where it is
    STEP_CONDITION, // it is `constant` if `condition` held, otherwise `otherwise`
    STEP_SIGN,      // it is `constant` if `place` was negative, otherwise `otherwise`
    STEP_NEGATIVE,  // it was in `place` if that was negative, otherwise it is `otherwise`
    STEP_LOST,      // it is unknown
};
#define STEP_OPERATIONS 2
struct step {
    enum step_kind kind;
    struct place place;
    bool unknown; // STEP_SELECTED: what is in `place` is unknown
    uint8_t operation_count;
    struct operation operations[STEP_OPERATIONS];
    int64_t constant, otherwise;
    enum isa_condition condition;
};
// Must not be used for calls and system calls: their results depend on the callee.
struct step place_step(const struct flow_image *image, const struct flow_block *block,
                       uint32_t insn, struct place place);

// Whether an instruction puts the address of a variable, or of something in it, into a register.
// That is never NULL.
bool place_gets_address(const struct flow_image *image, const struct flow_block *block,
                        uint32_t insn, struct place place);

// The number a register holds in front of instruction `insn`, if it is put there in the same block.
bool place_number(const struct flow_image *image, const struct flow_block *block, uint32_t insn,
                  uint8_t reg, int64_t *ret_number);

// Registers a called function may change.
#define PLACE_CLOBBERED 0x0f37u // rax rdx rcx rsi rdi r8..r11

// What the flags in front of instruction `at` say about a place if `condition` holds. The flags are
// set by the nearest instruction before it in the block. False if nothing is known.
struct known_bounds {
    uint32_t insn; // that sets the flags
    bool after;    // the bounds hold after it, for its result; otherwise before it
    struct place place;
    struct bounds bounds;
};
bool place_bounds(const struct flow_image *image, const struct flow_block *block, uint32_t at,
                  enum isa_condition condition, struct known_bounds *ret_bounds);
// What `left CONDITION number` says about left, as a signed number. False if that is nothing.
bool place_bounds_of(enum isa_condition condition, int64_t number, struct bounds *ret_bounds);

#endif
