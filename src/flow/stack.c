// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the stack and frame pointer at the beginning of every block, so that [rsp + 24] and
// [rbp - 8] can be seen to be the same place. A block has one stack depth. If two paths disagree,
// the first one wins: compilers do not write such code.
#include "flow/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>

#define WORD 8

static int32_t plus(int32_t place, int64_t change)
{
    if (place == FLOW_LOST || change < -(1 << 28) || change > 1 << 28)
        return FLOW_LOST;
    int64_t sum = place + change;
    return sum < -(1 << 30) || sum > 1 << 30 ? FLOW_LOST : (int32_t)sum;
}

void flow_move_stack(const struct isa_insn *insn, int32_t *stack, int32_t *frame)
{
    int32_t old_stack = *stack;
    switch (insn->kind) {
    case ISA_PUSH:
        *stack = plus(old_stack, -WORD);
        return;
    case ISA_POP:
        *stack = plus(old_stack, WORD);
        if (insn->dst == ISA_FRAME)
            *frame = FLOW_LOST;
        return;
    case ISA_LEAVE:
        *stack = plus(*frame, WORD);
        *frame = FLOW_LOST;
        return;
    case ISA_ADD:
        if (insn->dst == ISA_STACK && insn->src == ISA_NONE) {
            *stack = plus(old_stack, insn->value);
            return;
        }
        break;
    case ISA_AND: // alignment: places below it keep their distances to each other
        if (insn->dst == ISA_STACK && insn->src == ISA_NONE && insn->value < 0)
            return;
        break;
    case ISA_ADDRESS:
    case ISA_COPY: {
        uint8_t from = insn->kind == ISA_COPY ? insn->src : insn->base;
        int64_t change = insn->kind == ISA_COPY ? 0 : insn->displacement;
        bool plain = insn->width == 8 && (insn->kind == ISA_COPY || insn->index == ISA_NONE);
        int32_t source = from == ISA_STACK ? old_stack : from == ISA_FRAME ? *frame : FLOW_LOST;
        if (insn->dst == ISA_STACK)
            *stack = plain ? plus(source, change) : FLOW_LOST;
        if (insn->dst == ISA_FRAME)
            *frame = plain ? plus(source, change) : FLOW_LOST;
        return;
    }
    default:
        break;
    }
    if ((insn->writes >> ISA_FRAME & 1) != 0)
        *frame = FLOW_LOST;
    // Calls and returns also write the stack pointer, but leave it as it was.
    if ((insn->writes >> ISA_STACK & 1) != 0 && insn->kind != ISA_CALL &&
        insn->kind != ISA_CALL_INDIRECT && insn->kind != ISA_RET)
        *stack = FLOW_LOST;
}

struct measuring {
    struct flow_image *image;
    uint32_t *work; // blocks
    size_t count;
    unsigned char *seen; // by block
};

static void reach(struct measuring *measuring, uint32_t block, int32_t stack, int32_t frame)
{
    if (measuring->seen[block])
        return;
    measuring->seen[block] = 1;
    measuring->image->blocks.items[block].stack = stack;
    measuring->image->blocks.items[block].frame = frame;
    measuring->work[measuring->count++] = block;
}

static void spread(struct measuring *measuring)
{
    const struct flow_image *image = measuring->image;
    while (measuring->count != 0) {
        const struct flow_block *block = &image->blocks.items[measuring->work[--measuring->count]];
        int32_t stack = block->stack, frame = block->frame;
        for (uint32_t i = 0; i < block->count; i++)
            flow_move_stack(&image->insns.items[block->first + i], &stack, &frame);
        for (uint32_t i = 0; i < block->out_count; i++)
            reach(measuring, image->edges.items[block->edges_out + i].block, stack, frame);
    }
}

// No edge leads to exception handlers, nor to code that kernels patch jumps to. There the stack is
// assumed to be as in most of the function: as at the beginning of its deepest block.
static void assume_rest(struct measuring *measuring, uint32_t function)
{
    const struct flow_image *image = measuring->image;
    const struct flow_block *deepest = NULL;
    for (uint32_t f = function; f != FLOW_NONE; f = image->functions.items[f].next_part)
        for (uint32_t b = 0; b < image->functions.items[f].block_count; b++) {
            uint32_t number = image->functions.items[f].first_block + b;
            const struct flow_block *block = &image->blocks.items[number];
            if (measuring->seen[number] && block->stack != FLOW_LOST &&
                (deepest == NULL || block->stack < deepest->stack))
                deepest = block;
        }
    for (uint32_t f = function; deepest != NULL && f != FLOW_NONE;
         f = image->functions.items[f].next_part)
        for (uint32_t b = 0; b < image->functions.items[f].block_count; b++) {
            reach(measuring, image->functions.items[f].first_block + b, deepest->stack,
                  deepest->frame);
            spread(measuring);
        }
}

struct error *flow_measure_stack(struct flow_image *image)
{
    struct measuring measuring = {.image = image};
    measuring.work = malloc((image->blocks.count + 1) * sizeof *measuring.work);
    measuring.seen = calloc(image->blocks.count + 1, 1);
    bool ready = measuring.work != NULL && measuring.seen != NULL;
    for (uint32_t f = 0; ready && f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        if (function->block_count == 0 || function->owner != f)
            continue;
        reach(&measuring, function->first_block, 0, FLOW_LOST);
        spread(&measuring);
        assume_rest(&measuring, f);
    }
    free(measuring.work);
    free(measuring.seen);
    return ready ? NULL : error_no_memory();
}
