// SPDX-License-Identifier: GPL-3.0-or-later
// Where the stack and frame pointers are at the beginning of every block, so that [rsp + 24] here
// and [rbp - 8] there are known to be one place. A block is entered with one depth; should two
// paths disagree, the first one wins: compilers do not write such code.
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

void flow_move_stack(const struct isa_fact *fact, int32_t *stack, int32_t *frame)
{
    int32_t old_stack = *stack;
    switch (fact->kind) {
    case ISA_PUSH:
        *stack = plus(old_stack, -WORD);
        return;
    case ISA_POP:
        *stack = plus(old_stack, WORD);
        if (fact->dst == ISA_FRAME)
            *frame = FLOW_LOST;
        return;
    case ISA_LEAVE:
        *stack = plus(*frame, WORD);
        *frame = FLOW_LOST;
        return;
    case ISA_ADD:
        if (fact->dst == ISA_STACK && fact->src == ISA_NONE) {
            *stack = plus(old_stack, fact->value);
            return;
        }
        break;
    case ISA_AND: // aligned: what is below has one place, whatever lies between it and the caller's
        if (fact->dst == ISA_STACK && fact->src == ISA_NONE && fact->value < 0)
            return;
        break;
    case ISA_ADDRESS:
    case ISA_COPY: {
        uint8_t from = fact->kind == ISA_COPY ? fact->src : fact->base;
        int64_t change = fact->kind == ISA_COPY ? 0 : fact->displacement;
        bool plain = fact->width == 8 && (fact->kind == ISA_COPY || fact->index == ISA_NONE);
        int32_t source = from == ISA_STACK ? old_stack : from == ISA_FRAME ? *frame : FLOW_LOST;
        if (fact->dst == ISA_STACK)
            *stack = plain ? plus(source, change) : FLOW_LOST;
        if (fact->dst == ISA_FRAME)
            *frame = plain ? plus(source, change) : FLOW_LOST;
        return;
    }
    default:
        break;
    }
    if ((fact->writes >> ISA_FRAME & 1) != 0)
        *frame = FLOW_LOST;
    // Calls and returns also write the stack pointer, but leave it as it was.
    if ((fact->writes >> ISA_STACK & 1) != 0 && fact->kind != ISA_CALL &&
        fact->kind != ISA_CALL_INDIRECT && fact->kind != ISA_LEAVE_FUNCTION)
        *stack = FLOW_LOST;
}

struct error *flow_measure_stack(struct flow_image *image)
{
    uint32_t *work = malloc((image->blocks.count + 1) * sizeof *work);
    unsigned char *seen = calloc(image->blocks.count + 1, 1);
    size_t count = 0;
    for (size_t f = 0; work != NULL && seen != NULL && f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        if (function->block_count == 0 || function->owner != f)
            continue;
        image->blocks.items[function->first_block].stack = 0;
        seen[function->first_block] = 1;
        work[count++] = function->first_block;
        while (count != 0) {
            const struct flow_block *block = &image->blocks.items[work[--count]];
            int32_t stack = block->stack, frame = block->frame;
            for (uint32_t i = 0; i < block->count; i++)
                flow_move_stack(&image->facts.items[block->first + i], &stack, &frame);
            for (uint32_t i = 0; i < block->out_count; i++) {
                uint32_t next = image->edges.items[block->edges_out + i].block;
                if (seen[next])
                    continue;
                seen[next] = 1;
                image->blocks.items[next].stack = stack;
                image->blocks.items[next].frame = frame;
                work[count++] = next;
            }
        }
    }
    bool short_of_memory = work == NULL || seen == NULL;
    free(work);
    free(seen);
    return short_of_memory ? error_no_memory() : NULL;
}
