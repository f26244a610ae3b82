// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the arguments of a function behind the first: which of them it looks at, as at the key of
// a lookup, and to which it only stores what it finds.
#include "profile/hints.h"

#include "profile/place.h"

#define MOST_SEEN 64 // blocks

struct held {
    uint8_t argument[ISA_REGISTERS]; // the argument that a register holds; 0: none, or the first
    uint32_t untouched; // registers that are as the caller left them. They may be no arguments.
};

struct looking {
    const struct flow_image *image;
    unsigned (*callee_hints)(void *data, uint32_t callee);
    void *data;
    unsigned hints;
    uint32_t seen[MOST_SEEN];
    unsigned count;
};

static void look_at(struct looking *looking, const struct held *held, uint8_t reg)
{
    if (reg < ISA_REGISTERS && held->argument[reg] != 0)
        looking->hints |= HINT_KEY(held->argument[reg]);
}

// Notes what an instruction looks at. A comparison with NULL does not count, neither does a store
// to where an argument points: both are what is done with an out-parameter.
static void look(struct looking *looking, const struct isa_insn *insn, const struct held *held)
{
    bool memory = (insn->flags & ISA_MEMORY) != 0;
    bool stores = insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT;
    bool stack = insn->base == ISA_STACK || insn->base == ISA_FRAME;
    if (memory && stores && !stack &&
        (insn->base >= ISA_REGISTERS || held->argument[insn->base] == 0))
        looking->hints |= HINT_CHANGES;
    if (memory && !stores)
        look_at(looking, held, insn->base);
    if (memory)
        look_at(looking, held, insn->index);
    switch (insn->kind) {
    case ISA_CONSTANT:
    case ISA_COPY:
    case ISA_NOTHING:
    case ISA_POP:
    case ISA_PUSH:
    case ISA_LOAD:
    case ISA_ADDRESS:
    case ISA_STORE_CONSTANT:
        return;
    case ISA_STORE:
        if (stack) // it may be read from there
            look_at(looking, held, insn->src);
        return;
    case ISA_TEST:
        if (insn->src == insn->dst)
            return;
        break;
    case ISA_COMPARE:
        if (insn->dst == ISA_NONE && insn->value == 0)
            return;
        break;
    default:
        break;
    }
    look_at(looking, held, insn->src);
    look_at(looking, held, insn->dst);
}

// A call passes arguments on to a callee that looks at them. Of a callee that is not known, that is
// only certain of what was put in place for it.
static void look_at_call(struct looking *looking, uint32_t callee, const struct held *held)
{
    struct place place;
    unsigned hints = callee == FLOW_NONE ? 0 : looking->callee_hints(looking->data, callee);
    looking->hints |= hints & HINT_CHANGES;
    for (unsigned i = 0; place_of_argument(i, &place); i++) {
        bool untouched = (held->untouched >> place.reg & 1) != 0;
        if (i == 0 || callee == FLOW_NONE ? !untouched : (hints & HINT_KEY(i)) != 0)
            look_at(looking, held, place.reg);
    }
}

static void step(struct held *held, const struct isa_insn *insn)
{
    uint8_t copied =
        insn->kind == ISA_COPY && insn->src < ISA_REGISTERS ? held->argument[insn->src] : 0;
    for (uint32_t writes = insn->writes; writes != 0; writes &= writes - 1)
        held->argument[__builtin_ctz(writes)] = 0;
    held->untouched &= ~(uint32_t)insn->writes;
    if (copied != 0 && insn->dst < ISA_REGISTERS)
        held->argument[insn->dst] = copied;
}

static void look_from(struct looking *looking, uint32_t number, struct held held)
{
    const struct flow_image *image = looking->image;
    const struct flow_block *block = &image->blocks.items[number];
    for (unsigned i = 0; i < looking->count; i++)
        if (looking->seen[i] == number)
            return;
    if (looking->count == MOST_SEEN) { // too far away: what was kept until here is looked at
        for (uint8_t reg = 0; reg < ISA_REGISTERS; reg++)
            if ((held.untouched >> reg & 1) == 0)
                look_at(looking, &held, reg);
        return;
    }
    looking->seen[looking->count++] = number;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        look(looking, insn, &held);
        step(&held, insn);
    }
    if (block->end == FLOW_CALLS && !flow_callee_returns(image, block->callee))
        return;
    if (block->end == FLOW_CALLS || block->end == FLOW_TAIL)
        look_at_call(looking, block->callee, &held);
    for (uint8_t reg = 0; block->end == FLOW_CALLS && reg < ISA_REGISTERS; reg++)
        if ((PLACE_CLOBBERED >> reg & 1) != 0)
            held.argument[reg] = 0;
    for (uint32_t i = 0; i < block->out_count; i++)
        look_from(looking, image->edges.items[block->edges_out + i].block, held);
}

unsigned hints_from_arguments(const struct flow_image *image, uint32_t function,
                              unsigned (*callee_hints)(void *data, uint32_t callee), void *data)
{
    struct looking looking = {.image = image, .callee_hints = callee_hints, .data = data};
    struct held held = {0};
    struct place place;
    for (unsigned i = 1; place_of_argument(i, &place); i++) {
        held.argument[place.reg] = (uint8_t)i;
        held.untouched |= 1u << place.reg;
    }
    if (image->functions.items[function].block_count != 0)
        look_from(&looking, image->functions.items[function].first_block, held);
    return looking.hints;
}
