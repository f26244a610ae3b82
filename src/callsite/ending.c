// SPDX-License-Identifier: GPL-3.0-or-later
// Follows constants through a function, to find out whether it can return. A branch whose condition
// is known is followed one way only. What is known of a block shrinks with every way that leads to
// it, so each block is looked at a few times at most.
#include "callsite/ending.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "callsite/machine.h"
#include "profile/place.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 160 // of a function that is looked at
#define MOST_VISITS 400
#define DEEPEST     3 // calls within each other
#define SLOTS       4 // arguments that unoptimised code keeps in its frame

static const uint16_t arguments = 1u << 5 | 1u << 4 | 1u << 1 | 1u << 2; // rdi rsi rdx rcx

struct frame_slot {
    int64_t offset, number;
};

struct block_state {
    struct ending_constants constants;
    unsigned slot_count;
    struct frame_slot slots[SLOTS];
    bool reached, waiting;
};

struct walk {
    struct endings *endings;
    const struct flow_image *image;
    const struct flow_function *function;
    struct block_state *states; // by block of the function
    unsigned depth, visits;
    bool returns;
};

void endings_deinit(struct endings *endings)
{
    map_deinit(&endings->known);
}

static bool is_known(const struct ending_constants *constants, uint8_t reg, int64_t *ret_number)
{
    if (reg >= ISA_REGISTERS || (constants->known >> reg & 1) == 0)
        return false;
    *ret_number = constants->numbers[reg];
    return true;
}

static bool is_frame(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->base == ISA_FRAME &&
           insn->index == ISA_NONE;
}

static bool find_slot(const struct block_state *state, int64_t offset, int64_t *ret_number)
{
    for (unsigned i = 0; i < state->slot_count; i++)
        if (state->slots[i].offset == offset) {
            *ret_number = state->slots[i].number;
            return true;
        }
    return false;
}

static void store(struct block_state *state, int64_t offset, bool known, int64_t number)
{
    unsigned i = 0;
    while (i < state->slot_count && state->slots[i].offset != offset)
        i++;
    if (i < state->slot_count) {
        struct frame_slot last = state->slots[--state->slot_count];
        state->slots[i] = last;
    }
    if (known && state->slot_count < SLOTS)
        state->slots[state->slot_count++] = (struct frame_slot){offset, number};
}

static void step(struct block_state *state, const struct isa_insn *insn)
{
    struct ending_constants *constants = &state->constants;
    int64_t number = insn->value;
    bool known =
        insn->kind == ISA_CONSTANT ||
        (insn->kind == ISA_COPY && is_known(constants, insn->src, &number)) ||
        (insn->kind == ISA_LOAD && is_frame(insn) && find_slot(state, insn->displacement, &number));
    if (insn->kind == ISA_AND && insn->src == ISA_NONE && (insn->flags & ISA_MEMORY) == 0 &&
        is_known(constants, insn->dst, &number)) {
        number &= insn->value;
        known = true;
    }
    if (insn->kind == ISA_STORE && is_frame(insn)) {
        bool stored = is_known(constants, insn->src, &number);
        store(state, insn->displacement, stored, number);
    } else if (insn->kind != ISA_LOAD && is_frame(insn) && insn->kind != ISA_COMPARE &&
               insn->kind != ISA_TEST) {
        store(state, insn->displacement, false, 0);
    }
    if ((insn->writes >> ISA_FRAME & 1) != 0)
        state->slot_count = 0;
    constants->known &= (uint16_t)~insn->writes;
    if (known && insn->dst < ISA_REGISTERS) {
        constants->known |= (uint16_t)(1u << insn->dst);
        constants->numbers[insn->dst] = number;
    }
}

struct comparison { // of two numbers; kind is ISA_OTHER if one is unknown
    struct machine_flags flags;
    int64_t left, right;
};

static struct comparison compare(const struct block_state *state, const struct isa_insn *insn)
{
    const struct comparison unknown = {.flags = {.kind = ISA_OTHER}};
    struct comparison comparison = {.flags = {.kind = insn->kind, .width = insn->width},
                                    .right = insn->value};
    bool compares = insn->kind == ISA_COMPARE || insn->kind == ISA_TEST;
    uint8_t left = compares ? insn->src : insn->dst, right = compares ? insn->dst : insn->src;
    bool result = insn->kind == ISA_AND && (insn->flags & (ISA_RESULT | ISA_MEMORY)) == ISA_RESULT;
    if (!compares && !result)
        return unknown;
    if (left != ISA_NONE
            ? !is_known(&state->constants, left, &comparison.left)
            : !is_frame(insn) || !find_slot(state, insn->displacement, &comparison.left))
        return unknown;
    if (right != ISA_NONE && !is_known(&state->constants, right, &comparison.right))
        return unknown;
    return comparison;
}

static bool same_slot(const struct block_state *state, const struct frame_slot *slot)
{
    int64_t number;
    return find_slot(state, slot->offset, &number) && number == slot->number;
}

// A way leads to a block: keeps what holds on all ways.
static void reach(struct walk *walk, uint32_t block, const struct block_state *from)
{
    const struct flow_function *function = walk->function;
    if (block < function->first_block || block - function->first_block >= function->block_count) {
        walk->returns = true; // in another part of the function
        return;
    }
    struct block_state *state = &walk->states[block - function->first_block];
    if (!state->reached) {
        *state = *from;
        state->reached = state->waiting = true;
        return;
    }
    uint16_t known = state->constants.known & from->constants.known;
    for (unsigned r = 0; r < ISA_REGISTERS; r++)
        if (state->constants.numbers[r] != from->constants.numbers[r])
            known &= (uint16_t) ~(1u << r);
    unsigned kept = 0;
    for (unsigned i = 0; i < state->slot_count; i++)
        if (same_slot(from, &state->slots[i]))
            state->slots[kept++] = state->slots[i];
    state->waiting |= known != state->constants.known || kept != state->slot_count;
    state->constants.known = known;
    state->slot_count = kept;
}

static struct error *comes_back(struct endings *endings, const struct flow_image *image,
                                uint32_t callee, const struct ending_constants *constants,
                                unsigned depth, bool *ret_comes_back);

static struct error *leave(struct walk *walk, const struct flow_block *block,
                           const struct comparison *comparison, struct block_state *state)
{
    const struct flow_image *image = walk->image;
    const struct isa_insn *last = &image->insns.items[block->first + block->count - 1];
    bool back = true;
    if (block->end == FLOW_RETURNS || block->end == FLOW_UNKNOWN) {
        walk->returns = true;
        return NULL;
    }
    if (block->end == FLOW_CALLS || block->end == FLOW_TAIL) {
        TRY(comes_back(walk->endings, image, block->callee, &state->constants, walk->depth + 1,
                       &back));
        state->constants.known &= (uint16_t)~PLACE_CLOBBERED;
        walk->returns |= block->end == FLOW_TAIL && back;
        if (block->end == FLOW_CALLS && !back)
            return NULL;
    }
    int taken = last->kind != ISA_BRANCH ? -1
                                         : condition_holds(&comparison->flags, comparison->left,
                                                           comparison->right, last->condition);
    for (uint32_t i = 0; i < block->out_count; i++) {
        struct flow_edge edge = image->edges.items[block->edges_out + i];
        if (taken < 0 || taken == (edge.kind == FLOW_TAKEN))
            reach(walk, edge.block, state);
    }
    return NULL;
}

static struct error *visit(struct walk *walk, uint32_t number)
{
    const struct flow_block *block =
        &walk->image->blocks.items[walk->function->first_block + number];
    walk->states[number].waiting = false;
    struct block_state state = walk->states[number];
    struct comparison comparison = {.flags = {.kind = ISA_OTHER}};
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &walk->image->insns.items[block->first + i];
        if ((insn->flags & ISA_FLAGS) != 0)
            comparison = compare(&state, insn);
        if (insn->kind < ISA_CALL)
            step(&state, insn);
    }
    return leave(walk, block, &comparison, &state);
}

static struct error *explore(struct walk *walk, const struct ending_constants *constants)
{
    const struct flow_function *function = walk->function;
    struct block_state first = {.constants = *constants};
    walk->states = calloc(function->block_count, sizeof *walk->states);
    if (walk->states == NULL)
        return error_no_memory();
    reach(walk, function->first_block, &first);
    bool more = true;
    while (more && !walk->returns) {
        more = false;
        for (uint32_t i = 0; i < function->block_count && !walk->returns; i++) {
            if (!walk->states[i].waiting)
                continue;
            walk->returns |= ++walk->visits > MOST_VISITS;
            more = true;
            TRY(visit(walk, i));
        }
    }
    return NULL;
}

static struct error *comes_back(struct endings *endings, const struct flow_image *image,
                                uint32_t callee, const struct ending_constants *constants,
                                unsigned depth, bool *ret_comes_back)
{
    int64_t status;
    *ret_comes_back = true;
    if (callee == FLOW_NONE)
        return NULL;
    if (flow_callee_is_import(callee)) {
        const struct flow_import *import = &image->imports.items[flow_callee_import(callee)];
        *ret_comes_back = import->returns;
        if (strcmp(import->name, "error") == 0 || strcmp(import->name, "error_at_line") == 0)
            *ret_comes_back = !is_known(constants, 5, &status) || (int32_t)status == 0; // rdi
        return NULL;
    }
    const struct flow_function *function = &image->functions.items[callee];
    *ret_comes_back = function->returns;
    if (!function->returns || depth > DEEPEST || function->block_count == 0 ||
        function->block_count > MOST_BLOCKS)
        return NULL;
    struct ending_constants passed = *constants;
    uint64_t hash = hash_mix(hash_mix(4, callee), passed.known &= arguments);
    for (unsigned r = 0; r < ISA_REGISTERS; r++)
        if ((passed.known >> r & 1) != 0)
            hash = hash_mix(hash, (uint64_t)passed.numbers[r]);
    uint32_t before = map_find(&endings->known, hash);
    if (before != MAP_NONE) {
        *ret_comes_back = before != 0;
        return NULL;
    }
    struct walk walk = {.endings = endings, .image = image, .function = function, .depth = depth};
    struct error *error = explore(&walk, &passed);
    free(walk.states);
    TRY(error);
    *ret_comes_back = walk.returns;
    return map_put(&endings->known, hash, walk.returns);
}

struct error *ending_comes_back(struct endings *endings, const struct flow_image *image,
                                uint32_t callee, const struct ending_constants *constants,
                                bool *ret_comes_back)
{
    return comes_back(endings, image, callee, constants, 0, ret_comes_back);
}
