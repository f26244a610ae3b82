// SPDX-License-Identifier: GPL-3.0-or-later
// Searches backwards from a place, block by block along all paths, for the instruction that set it.
// Gives up when paths disagree or a budget is used up.
#include "callsite/reaching.h"

#include <string.h>

#define MOST_BLOCKS 48
#define MOST_INSNS  600 // each is cheap, but there are many sites

bool reaching_is_errno_location(const struct flow_image *image, uint32_t callee)
{
    static const char wanted[] = "__errno_location";
    if (callee == FLOW_NONE)
        return false;
    if (flow_callee_is_import(callee))
        return strcmp(image->imports.items[flow_callee_import(callee)].name, wanted) == 0;
    const struct flow_function *function = &image->functions.items[callee];
    return function->name != NULL && function->name_size == sizeof wanted - 1 &&
           memcmp(function->name, wanted, sizeof wanted - 1) == 0;
}

static bool is_call(const struct isa_insn *insn)
{
    return insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT;
}

// Whether an instruction moves four bytes or more and does nothing else.
static bool is_move(const struct isa_insn *insn)
{
    bool copies = insn->kind == ISA_COPY || insn->kind == ISA_LOAD;
    return (copies && insn->from >= 4) || insn->kind == ISA_STORE || insn->kind == ISA_PUSH ||
           insn->kind == ISA_POP;
}

// Whether an instruction takes the address of a stack slot. From then on it may change at any time.
static bool gives_away(const struct flow_image *image, const struct flow_block *block, uint32_t at,
                       struct place place)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct place given;
    if (place.kind != PLACE_STACK)
        return false;
    if (insn->kind == ISA_COPY && insn->src == ISA_STACK && insn->dst != ISA_FRAME) {
        int32_t stack = block->stack, frame = block->frame;
        for (uint32_t i = block->first; i < at; i++)
            flow_move_stack(&image->insns.items[i], &stack, &frame);
        return stack == place.slot;
    }
    return insn->kind == ISA_ADDRESS && place_of_memory(image, block, at, &given) &&
           place_equal(given, place);
}

// Searches one block from `insn` back to its beginning. True if the search ends in it.
static bool look_through(const struct flow_image *image, const struct flow_block *block,
                         uint32_t insn, struct place *place, struct reaching_value *ret_before)
{
    for (uint32_t at = insn; at-- > block->first;) {
        const struct isa_insn *here = &image->insns.items[at];
        if (is_call(here) || here->kind == ISA_SYSCALL) {
            if (place->kind == PLACE_REGISTER && (PLACE_CLOBBERED >> place->reg & 1) != 0) {
                if (is_call(here) && place->reg == ISA_RETURN)
                    *ret_before =
                        (struct reaching_value){.kind = REACHING_CALLED, .callee = block->callee};
                return true;
            }
            continue;
        }
        if (gives_away(image, block, at, *place))
            return true;
        struct step step = place_step(image, block, at, *place);
        if (step.kind == STEP_SAME)
            continue;
        if (step.kind == STEP_CONSTANT)
            *ret_before = (struct reaching_value){.kind = REACHING_NUMBER, .number = step.constant};
        bool slot = here->kind == ISA_LOAD && here->base == ISA_PC && here->index == ISA_NONE &&
                    here->from == 8;
        if (step.kind == STEP_LOST && slot)
            *ret_before =
                (struct reaching_value){.kind = REACHING_SLOT, .number = here->displacement};
        if (step.kind != STEP_MOVED || !is_move(here))
            return true;
        *place = step.place;
    }
    return false;
}

// ---- along all paths ----

struct start { // where the search goes on: a place at the end of a block
    uint32_t block;
    struct place place;
};
struct looking {
    struct start starts[MOST_BLOCKS]; // those before `next` are done
    unsigned count, next;
    bool cut; // the budget was not enough
    struct reaching_value answer;
    bool answered;
};

// In a loop, a path comes to a start that is listed already, and need not be searched again.
static void add_start(struct looking *looking, uint32_t block, struct place place)
{
    for (unsigned i = 0; i < looking->count; i++)
        if (looking->starts[i].block == block && place_equal(looking->starts[i].place, place))
            return;
    if (looking->count == MOST_BLOCKS)
        looking->cut = true;
    else
        looking->starts[looking->count++] = (struct start){block, place};
}

// False if the paths disagree.
static bool agree(struct looking *looking, const struct reaching_value *answer)
{
    if (!looking->answered)
        looking->answer = *answer;
    looking->answered = true;
    return answer->kind != REACHING_UNKNOWN && answer->kind == looking->answer.kind &&
           answer->number == looking->answer.number && answer->callee == looking->answer.callee;
}

// Predecessors at lower addresses come first: most answers are there, and the others close loops.
static void add_starts(struct looking *looking, const struct flow_image *image, uint32_t number,
                       struct place place)
{
    const struct flow_block *block = &image->blocks.items[number];
    for (int up = 1; up >= 0; up--)
        for (uint32_t i = 0; i < block->in_count; i++) {
            uint32_t from = image->edges.items[block->edges_in + i].block;
            if ((from < number) == (up == 1))
                add_start(looking, from, place);
        }
}

struct reaching_value reaching_value_find(const struct flow_image *image, uint32_t number,
                                          uint32_t insn, struct place place)
{
    struct looking looking = {0};
    uint32_t insns = 0;
    for (;;) {
        const struct flow_block *block = &image->blocks.items[number];
        struct reaching_value answer = {.kind = REACHING_UNKNOWN};
        insns += insn - block->first;
        bool begins = number == image->functions.items[block->function].first_block;
        if (look_through(image, block, insn, &place, &answer) || begins || block->in_count == 0) {
            if (!agree(&looking, &answer))
                return (struct reaching_value){.kind = REACHING_UNKNOWN};
        } else {
            add_starts(&looking, image, number, place);
        }
        if (looking.next == looking.count)
            break;
        looking.cut = looking.cut || insns > MOST_INSNS;
        if (looking.cut)
            break;
        number = looking.starts[looking.next].block;
        place = looking.starts[looking.next++].place;
        insn = image->blocks.items[number].first + image->blocks.items[number].count;
    }
    // Without all paths, a number is not certain. Pointers rarely change once they are set.
    if (looking.cut && looking.answer.kind == REACHING_NUMBER)
        return (struct reaching_value){.kind = REACHING_UNKNOWN};
    return looking.answer;
}
