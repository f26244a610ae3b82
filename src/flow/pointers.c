// SPDX-License-Identifier: GPL-3.0-or-later
// Resolves calls through variables that hold the address of a function, assuming that they still
// have their first value. That value is a relocation. The search goes back only a few blocks.
#include "flow/internal.h"

#include <elf.h>

#define LONGEST_PATH 8 // blocks; of several predecessors the first is taken

// A register right before an instruction.
struct register_use {
    const struct flow_block *block;
    uint32_t insn;
    uint8_t reg;
    unsigned blocks;
};

static bool clobbers(const struct isa_insn *insn, uint8_t reg)
{
    const uint32_t saved = 1u << 3 | 1u << ISA_FRAME | 1u << ISA_STACK | 0xf000u; // rbx, r12..r15
    return (insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT) && (saved >> reg & 1) == 0;
}

// The instruction that set the register, or NULL if it is not found.
static const struct isa_insn *maker(const struct flow_image *image, struct register_use *use)
{
    while (use->reg < ISA_REGISTERS) {
        while (use->insn > use->block->first) {
            const struct isa_insn *insn = &image->insns.items[--use->insn];
            if (clobbers(insn, use->reg))
                return NULL;
            if ((insn->writes >> use->reg & 1) == 0)
                continue;
            if (insn->dst != use->reg || insn->kind != ISA_COPY || insn->from != 8)
                return insn->dst == use->reg ? insn : NULL;
            use->reg = insn->src;
        }
        if (use->block->in_count == 0 || use->blocks++ == LONGEST_PATH)
            return NULL;
        use->block = &image->blocks.items[image->edges.items[use->block->edges_in].block];
        use->insn = use->block->first + use->block->count;
    }
    return NULL;
}

static bool is_slot(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->base == ISA_PC &&
           insn->index == ISA_NONE;
}

// Whether the register holds the address of a variable of this module.
static bool variable(const struct flow_image *image, struct register_use use, uint64_t *ret_address)
{
    const struct isa_insn *made = maker(image, &use);
    if (made == NULL || !is_slot(made))
        return false;
    *ret_address = (uint64_t)made->displacement;
    if (made->kind == ISA_ADDRESS)
        return true;
    const struct flow_slot *slot =
        made->kind == ISA_LOAD && made->from == 8 ? flow_slot_at(image, *ret_address) : NULL;
    if (slot == NULL || slot->type != R_X86_64_RELATIVE)
        return false;
    *ret_address = (uint64_t)slot->addend;
    return true;
}

// The function whose address is in the memory that `insn` reads, as the loader fills it in.
static uint32_t held(const struct flow_image *image, struct register_use use,
                     const struct isa_insn *insn)
{
    uint64_t address;
    if (is_slot(insn))
        return flow_callee_of_slot(image, (uint64_t)insn->displacement);
    if ((insn->flags & (ISA_MEMORY | ISA_THREAD)) != ISA_MEMORY || insn->index != ISA_NONE)
        return FLOW_NONE;
    use.reg = insn->base;
    if (!variable(image, use, &address))
        return FLOW_NONE;
    return flow_callee_of_slot(image, address + (uint64_t)insn->displacement);
}

uint32_t flow_handed_over(const struct flow_image *image, const struct flow_block *block,
                          uint8_t reg)
{
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        const struct isa_insn *insn = &image->insns.items[i];
        bool call = insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT;
        if (call || (insn->writes >> reg & 1) == 0)
            continue;
        if (insn->dst != reg || !is_slot(insn))
            return FLOW_NONE;
        return insn->kind == ISA_ADDRESS ? flow_callee_at(image, (uint64_t)insn->displacement)
               : insn->kind == ISA_LOAD && insn->from == 8
                   ? flow_callee_of_slot(image, (uint64_t)insn->displacement)
                   : FLOW_NONE;
    }
    return FLOW_NONE;
}

static uint32_t callee_of(const struct flow_image *image, const struct flow_block *block)
{
    uint32_t last = block->first + block->count - 1;
    const struct isa_insn *call = &image->insns.items[last];
    if (call->kind != ISA_CALL_INDIRECT && call->kind != ISA_JUMP_INDIRECT)
        return FLOW_NONE;
    struct register_use use = {.block = block, .insn = last, .reg = call->src};
    if ((call->flags & ISA_MEMORY) != 0)
        return held(image, use, call);
    const struct isa_insn *made = maker(image, &use);
    return made != NULL && made->kind == ISA_LOAD && made->from == 8 ? held(image, use, made)
                                                                     : FLOW_NONE;
}

// Whether an instruction reads eight bytes of something that a register points to.
static bool reads_field(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->index == ISA_NONE &&
           insn->base < ISA_REGISTERS && insn->base != ISA_STACK;
}

bool flow_calls_table(const struct flow_image *image, const struct flow_block *block,
                      int64_t *ret_offset, int64_t *ret_entry)
{
    uint32_t last = block->first + block->count - 1;
    const struct isa_insn *entry = &image->insns.items[last];
    if (entry->kind != ISA_CALL_INDIRECT && entry->kind != ISA_JUMP_INDIRECT)
        return false;
    struct register_use use = {.block = block, .insn = last, .reg = entry->src};
    if ((entry->flags & ISA_MEMORY) == 0)
        entry = maker(image, &use);
    if (entry == NULL || !reads_field(entry) ||
        (entry->kind == ISA_LOAD && entry->from != sizeof(uint64_t)))
        return false;
    use.reg = entry->base;
    const struct isa_insn *table = maker(image, &use);
    if (table == NULL || table->kind != ISA_LOAD || table->from != sizeof(uint64_t) ||
        !reads_field(table))
        return false;
    *ret_offset = table->displacement;
    *ret_entry = entry->displacement;
    return true;
}

void flow_follow_pointers(struct flow_image *image)
{
    for (size_t i = 0; image->slots.count != 0 && i < image->blocks.count; i++) {
        struct flow_block *block = &image->blocks.items[i];
        if (block->callee != FLOW_NONE || block->count == 0 ||
            (block->end != FLOW_CALLS && block->end != FLOW_UNKNOWN))
            continue;
        uint32_t callee = callee_of(image, block);
        // A function that never returns is a placeholder: the program will change the variable.
        if (callee == FLOW_NONE || !flow_callee_returns(image, callee))
            continue;
        block->callee = callee;
        if (block->end == FLOW_UNKNOWN)
            block->end = FLOW_TAIL;
    }
}
