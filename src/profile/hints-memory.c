// SPDX-License-Identifier: GPL-3.0-or-later
// Follows memory that a function allocates: whether it is stored somewhere or passed to a callee.
#include "profile/hints.h"

#include "profile/place.h"

#define MOST_SEEN 48 // blocks

static bool holds(uint32_t registers, uint8_t reg)
{
    return reg < ISA_REGISTERS && (registers >> reg & 1) != 0;
}

struct keeping { // blocks that were visited, and the registers that held the memory
    const struct flow_image *image;
    uint32_t blocks[MOST_SEEN], registers[MOST_SEEN];
    unsigned count;
};

// Whether an instruction stores the address of the memory, which is in some registers. A store into
// the memory itself does not count. Updates the registers.
static bool puts_away(const struct isa_insn *insn, uint32_t *registers)
{
    bool source = holds(*registers, insn->src), target = holds(*registers, insn->dst);
    bool within = (insn->flags & ISA_MEMORY) != 0 && holds(*registers, insn->base);
    bool copied = false;
    switch (insn->kind) {
    case ISA_STORE:
        return !within && (source || insn->src == ISA_NONE);
    case ISA_COPY:
        copied = source;
        break;
    case ISA_ADDRESS:
        copied = within || holds(*registers, insn->index);
        break;
    case ISA_ADD:
    case ISA_SELECT:
        copied = source || target;
        break;
    case ISA_CONSTANT:
    case ISA_LOAD:
    case ISA_SET:
    case ISA_POP:
    case ISA_LEAVE:
    case ISA_COMPARE:
    case ISA_COMPARE_MEMORY:
    case ISA_TEST:
        break;
    default:
        if (source || target || (insn->writes & *registers) != 0)
            return true;
    }
    if (copied && insn->dst >= ISA_REGISTERS)
        return true;
    *registers = (*registers & ~(uint32_t)insn->writes) | (copied ? 1u << insn->dst : 0);
    return false;
}

// Whether memory that is in some registers at the beginning of a block is stored or passed to a
// callee. True if that is too far away to see.
static bool is_kept(struct keeping *keeping, uint32_t number, uint32_t registers)
{
    const struct flow_image *image = keeping->image;
    const struct flow_block *block = &image->blocks.items[number];
    for (unsigned i = 0; i < keeping->count; i++)
        if (keeping->blocks[i] == number && (registers & ~keeping->registers[i]) == 0)
            return false;
    if (keeping->count == MOST_SEEN)
        return true;
    keeping->blocks[keeping->count] = number;
    keeping->registers[keeping->count++] = registers;
    for (uint32_t i = 0; i < block->count && registers != 0; i++)
        if (puts_away(&image->insns.items[block->first + i], &registers))
            return true;
    if (registers == 0 || block->end == FLOW_RETURNS || block->end == FLOW_STOPS)
        return false;
    if (block->end != FLOW_GOES_ON)
        return block->end != FLOW_CALLS || flow_callee_returns(image, block->callee);
    for (uint32_t i = 0; i < block->out_count; i++)
        if (is_kept(keeping, image->edges.items[block->edges_out + i].block, registers))
            return true;
    return false;
}

#define SMALLEST_OBJECT 8
#define LARGEST_OBJECT  (1 << 24)

// The largest size that the block passes to its callee as a constant; 0 if there is none.
static int64_t passed_size(const struct flow_image *image, const struct flow_block *block)
{
    uint32_t arguments = 0;
    int64_t size = 0;
    struct place place;
    for (unsigned i = 0; i < 3 && place_of_argument(i, &place); i++)
        arguments |= 1u << place.reg;
    for (uint32_t i = block->count; i-- > 0 && arguments != 0;) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        if (insn->kind == ISA_CONSTANT && holds(arguments, insn->dst) && insn->value > size)
            size = insn->value;
        arguments &= ~(uint32_t)insn->writes;
    }
    return size >= SMALLEST_OBJECT && size <= LARGEST_OBJECT ? size : 0;
}

// Whether a block stores into an object of this size that some registers point to.
static bool fills_in(const struct flow_image *image, const struct flow_block *block,
                     uint32_t registers, int64_t size)
{
    for (uint32_t i = 0; i < block->count && registers != 0; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        bool stores = insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT;
        if (stores && (insn->flags & ISA_MEMORY) != 0 && holds(registers, insn->base) &&
            insn->displacement >= 0 && insn->displacement < size)
            return true;
        bool copied = insn->kind == ISA_COPY && insn->width == 8 && holds(registers, insn->src) &&
                      insn->dst < ISA_REGISTERS;
        registers = (registers & ~(uint32_t)insn->writes) | (copied ? 1u << insn->dst : 0);
    }
    return false;
}

bool hints_call_allocates(const struct flow_image *image, const struct flow_block *block,
                          unsigned callee_hints)
{
    bool unknown = block->callee == FLOW_NONE || (callee_hints & HINT_THROUGH) != 0;
    int64_t size = unknown && block->out_count != 0 ? passed_size(image, block) : 0;
    if (size == 0)
        return false;
    uint32_t registers = 1u << ISA_RETURN;
    const struct flow_block *next =
        &image->blocks.items[image->edges.items[block->edges_out].block];
    bool compared = false;
    for (uint32_t i = 0; i < next->count; i++) {
        const struct isa_insn *insn = &image->insns.items[next->first + i];
        compared |= insn->kind == ISA_TEST && insn->width == 8 && insn->src == insn->dst &&
                    holds(registers, insn->src);
        bool copied = insn->kind == ISA_COPY && insn->width == 8 && holds(registers, insn->src) &&
                      insn->dst < ISA_REGISTERS;
        registers = (registers & ~(uint32_t)insn->writes) | (copied ? 1u << insn->dst : 0);
    }
    for (uint32_t i = 0; compared && i < next->out_count; i++)
        if (fills_in(image, &image->blocks.items[image->edges.items[next->edges_out + i].block],
                     registers, size))
            return true;
    return false;
}

bool hints_keep_memory(const struct flow_image *image, uint32_t function,
                       unsigned (*callee_hints)(void *data, uint32_t callee), void *data)
{
    for (uint32_t range = function; range != FLOW_NONE;) {
        const struct flow_function *part = &image->functions.items[range];
        for (uint32_t i = 0; i < part->block_count; i++) {
            const struct flow_block *block = &image->blocks.items[part->first_block + i];
            struct keeping keeping = {.image = image};
            if (block->end != FLOW_CALLS || block->out_count == 0)
                continue;
            unsigned hints = block->callee != FLOW_NONE ? callee_hints(data, block->callee) : 0;
            if (((hints & HINT_ALLOCATES) != 0 || hints_call_allocates(image, block, hints)) &&
                is_kept(&keeping, image->edges.items[block->edges_out].block, 1u << ISA_RETURN))
                return true;
        }
        range = part->next_part;
    }
    return false;
}
