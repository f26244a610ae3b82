// SPDX-License-Identifier: GPL-3.0-or-later
// See before.h.
#include "callsite/before.h"

#include <string.h>

#define LONGEST_WAY 24  // blocks
#define MOST_FACTS  400 // each of them is cheap, but sites are many

bool before_is_error_location(const struct flow_image *image, uint32_t callee)
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

static bool is_call(const struct isa_fact *fact)
{
    return fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT;
}

// Moves four bytes or more and does nothing else.
static bool is_move(const struct isa_fact *fact)
{
    bool copies = fact->kind == ISA_COPY || fact->kind == ISA_LOAD;
    return (copies && fact->from >= 4) || fact->kind == ISA_STORE || fact->kind == ISA_PUSH ||
           fact->kind == ISA_POP;
}

// Through one block from `*fact` back to its beginning; true when there is an answer.
static bool look_through(const struct flow_image *image, const struct flow_block *block,
                         uint32_t fact, struct place *place, struct before *ret_before)
{
    for (uint32_t at = fact; at-- > block->first;) {
        const struct isa_fact *here = &image->facts.items[at];
        if (is_call(here) || here->kind == ISA_SYSCALL) {
            if (place->kind == PLACE_REGISTER && (PLACE_CLOBBERED >> place->reg & 1) != 0) {
                if (is_call(here) && place->reg == ISA_RETURN)
                    *ret_before = (struct before){.kind = BEFORE_CALLED, .callee = block->callee};
                return true;
            }
            continue;
        }
        struct step step = place_step(image, block, at, *place);
        if (step.kind == STEP_SAME)
            continue;
        if (step.kind == STEP_CONSTANT)
            *ret_before = (struct before){.kind = BEFORE_NUMBER, .number = step.constant};
        bool slot = here->kind == ISA_LOAD && here->base == ISA_PC && here->index == ISA_NONE &&
                    here->from == 8;
        if (step.kind == STEP_LOST && slot)
            *ret_before = (struct before){.kind = BEFORE_SLOT, .number = here->displacement};
        if (step.kind != STEP_MOVED || !is_move(here))
            return true;
        *place = step.place;
    }
    return false;
}

struct before before_find(const struct flow_image *image, uint32_t number, uint32_t fact,
                          struct place place)
{
    struct before before = {.kind = BEFORE_UNKNOWN};
    uint32_t facts = 0;
    for (int blocks = 0; blocks < LONGEST_WAY && facts < MOST_FACTS; blocks++) {
        const struct flow_block *block = &image->blocks.items[number];
        facts += fact - block->first;
        if (look_through(image, block, fact, &place, &before) || block->in_count == 0)
            return before;
        // Of several ways the one from further up: not round a loop.
        uint32_t next = image->edges.items[block->edges_in].block;
        for (uint32_t i = 1; i < block->in_count; i++)
            if (image->edges.items[block->edges_in + i].block < next)
                next = image->edges.items[block->edges_in + i].block;
        if (next >= number && block->in_count > 1)
            return before;
        number = next;
        fact = image->blocks.items[next].first + image->blocks.items[next].count;
    }
    return before;
}
