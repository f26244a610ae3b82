// SPDX-License-Identifier: GPL-3.0-or-later
// The code of one module, decoded once: functions, basic blocks, edges and callees. Plain arrays,
// filled by flow_image_open() and only read afterwards, so several threads may read them.
#ifndef ORDEAL_FLOW_IMAGE_H
#define ORDEAL_FLOW_IMAGE_H

#include "base/array.h"
#include "base/error.h"
#include "elf/object.h"
#include "isa/insn.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_NONE UINT32_MAX

struct flow_function {
    uint64_t start, end;
    const char *name; // of a symbol at its start, or NULL; belongs to the object
    uint32_t name_size;
    uint32_t first_insn, insn_count;
    uint32_t first_block, block_count; // of this range; parts have blocks of their own
    uint32_t owner;                    // itself, or the function it was split off from
    uint32_t next_part;                // of the same owner, or FLOW_NONE
    bool part;
    bool returns; // some path returns to the caller, or may
};

enum flow_end {   // of a block
    FLOW_GOES_ON, // to its successors
    FLOW_CALLS,   // `callee`, then goes on
    FLOW_RETURNS, // to the function's caller
    FLOW_TAIL,    // becomes `callee`, which returns to the function's caller
    FLOW_STOPS,   // never goes on
    FLOW_UNKNOWN, // an indirect jump that is not understood
};

struct flow_block {
    uint32_t first, count; // indexes in `insns`
    uint32_t function;     // the owner
    uint32_t callee;       // see flow_callee_is_import(); FLOW_NONE if unknown
    uint32_t edges_out, out_count;
    uint32_t edges_in, in_count;
    int32_t stack, frame; // stack and frame pointer at its beginning, relative to the stack pointer
                          // at the function's beginning; FLOW_LOST if unknown
    uint8_t end;          // enum flow_end
};
#define FLOW_LOST INT32_MIN

enum flow_edge_kind { FLOW_FALLS, FLOW_TAKEN, FLOW_JUMPS, FLOW_TABLE };
struct flow_edge {
    uint32_t block; // the other end
    uint32_t kind;  // enum flow_edge_kind; of a FLOW_TABLE edge out, cases are not told apart
};

struct flow_import {
    const char *name, *version; // version may be NULL
    bool returns;
};

// A place that the loader fills in: a GOT slot or a pointer in data.
struct flow_slot {
    uint64_t address;
    uint32_t import;    // or FLOW_NONE
    uint32_t type;      // R_X86_64_*
    int64_t addend;     // link-time address for R_X86_64_RELATIVE
    const char *symbol; // or NULL
};

// A piece of assembly that stands for one instruction: `call __x86_indirect_thunk_rax` for a call
// through rax, `jmp __x86_return_thunk` for a return, `call __fentry__` for nothing.
enum flow_thunk_kind { FLOW_THUNK_INDIRECT, FLOW_THUNK_RETURN, FLOW_THUNK_NOTHING };
struct flow_thunk {
    uint64_t address;
    uint8_t kind; // enum flow_thunk_kind
    uint8_t reg;  // of an indirect one
};

// A function that a block may call through a table of functions in an object.
struct flow_target {
    uint32_t block;
    uint32_t callee;
};

struct flow_image {
    const struct elf_object *object;
    uint64_t base; // offsets of instructions count from here
    ARRAY(struct isa_insn) insns;
    ARRAY(struct flow_function) functions; // by start, disjoint
    ARRAY(struct flow_block) blocks;       // of one function together, by address
    ARRAY(struct flow_edge) edges;
    ARRAY(struct flow_import) imports;
    ARRAY(struct flow_slot) slots; // by address
    ARRAY(struct flow_thunk) thunks;
    ARRAY(struct flow_target) targets; // by block
    uint64_t unreadable;               // bytes within functions that could not be decoded
};

// Decodes an object, which must outlive the image. An error if Zydis is missing or memory is short;
// bytes that are no instructions are no error.
_must_check_ struct error *flow_image_open(const struct elf_object *object,
                                           struct flow_image **ret_image);
void flow_image_close(struct flow_image *image);

// A callee is the index of a function of the image, or of an import with the highest bit set.
static inline bool flow_callee_is_import(uint32_t callee)
{
    return callee != FLOW_NONE && (callee & 0x80000000u) != 0;
}
static inline uint32_t flow_callee_import(uint32_t callee)
{
    return callee & 0x7fffffffu;
}

static inline bool flow_callee_returns(const struct flow_image *image, uint32_t callee)
{
    if (callee == FLOW_NONE)
        return true;
    return flow_callee_is_import(callee) ? image->imports.items[flow_callee_import(callee)].returns
                                         : image->functions.items[callee].returns;
}

static inline uint64_t flow_address(const struct flow_image *image, const struct isa_insn *insn)
{
    return image->base + insn->offset;
}

// Changes stack and frame pointer as one instruction does.
void flow_move_stack(const struct isa_insn *insn, int32_t *stack, int32_t *frame);

// By address; FLOW_NONE if there is none. flow_function_at() finds the function or part that
// contains it.
uint32_t flow_function_at(const struct flow_image *image, uint64_t address);
uint32_t flow_insn_at(const struct flow_image *image, uint64_t address);
const struct flow_slot *flow_slot_at(const struct flow_image *image, uint64_t address); // or NULL

// The callee of a direct call or jump to an address, or of a call through a slot. FLOW_NONE if
// unknown.
uint32_t flow_callee_at(const struct flow_image *image, uint64_t address);
uint32_t flow_callee_of_slot(const struct flow_image *image, uint64_t address);
// What a block without a known callee may call; others may be possible, too.
size_t flow_targets(const struct flow_image *image, uint32_t block,
                    const struct flow_target **ret_targets);
// The function whose address the block passes to its callee in a register, if the block puts it
// there; else FLOW_NONE.
uint32_t flow_handed_over(const struct flow_image *image, const struct flow_block *block,
                          uint8_t reg);

#endif
