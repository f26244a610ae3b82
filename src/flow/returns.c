// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out which functions return to their caller. At first, none does. A block behind a call is
// visited when its callee is known to return. Each block is visited once, so the time is linear.
#include "flow/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>

struct waiting { // blocks that wait for a function to return, as lists
    uint32_t block, next;
};

struct exploring {
    struct flow_image *image;
    unsigned char *seen; // by block
    uint32_t *heads;     // by function: first of `waiting` + 1
    ARRAY(struct waiting) waiting;
    ARRAY(uint32_t) work;
};

static void exploring_deinit(struct exploring *exploring)
{
    free(exploring->seen);
    free(exploring->heads);
    ARRAY_DEINIT(&exploring->waiting);
    ARRAY_DEINIT(&exploring->work);
}

static struct error *push(struct exploring *exploring, uint32_t block)
{
    if (exploring->seen[block])
        return NULL;
    exploring->seen[block] = 1;
    uint32_t *item = ARRAY_ADD(&exploring->work);
    if (item == NULL)
        return error_no_memory();
    *item = block;
    return NULL;
}

static struct error *push_successors(struct exploring *exploring, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->out_count; i++)
        TRY(push(exploring, exploring->image->edges.items[block->edges_out + i].block));
    return NULL;
}

static bool callee_returns(const struct flow_image *image, uint32_t callee)
{
    if (callee == FLOW_NONE)
        return true;
    if (flow_callee_is_import(callee))
        return image->imports.items[flow_callee_import(callee)].returns;
    return image->functions.items[callee].returns;
}

static struct error *wait_for(struct exploring *exploring, uint32_t callee, uint32_t block)
{
    struct waiting *waiting = ARRAY_ADD(&exploring->waiting);
    if (waiting == NULL)
        return error_no_memory();
    *waiting = (struct waiting){block, exploring->heads[callee]};
    exploring->heads[callee] = (uint32_t)exploring->waiting.count;
    return NULL;
}

static struct error *note_return(struct exploring *exploring, uint32_t number);

// Visits what comes after a block whose callee returns.
static struct error *go_on(struct exploring *exploring, uint32_t number)
{
    const struct flow_block *block = &exploring->image->blocks.items[number];
    if (block->end == FLOW_TAIL)
        TRY(note_return(exploring, block->function));
    return push_successors(exploring, block);
}

// Recursion is as deep as a chain of tail calls at most, through functions not yet marked.
static struct error *note_return(struct exploring *exploring, uint32_t number)
{
    struct flow_function *function = &exploring->image->functions.items[number];
    if (function->returns)
        return NULL;
    function->returns = true;
    uint32_t next = exploring->heads[number];
    exploring->heads[number] = 0;
    while (next != 0) {
        struct waiting waiting = exploring->waiting.items[next - 1];
        TRY(go_on(exploring, waiting.block));
        next = waiting.next;
    }
    return NULL;
}

static struct error *visit(struct exploring *exploring, uint32_t number)
{
    const struct flow_image *image = exploring->image;
    const struct flow_block *block = &image->blocks.items[number];
    switch (block->end) {
    case FLOW_RETURNS:
    case FLOW_UNKNOWN:
        TRY(note_return(exploring, block->function));
        return push_successors(exploring, block);
    case FLOW_CALLS:
    case FLOW_TAIL:
        if (callee_returns(image, block->callee))
            return go_on(exploring, number);
        if (block->end == FLOW_TAIL) // a conditional tail call also goes on
            TRY(push_successors(exploring, block));
        if (flow_callee_is_import(block->callee))
            return NULL;
        return wait_for(exploring, block->callee, number);
    default:
        return push_successors(exploring, block);
    }
}

struct error *flow_find_returns(struct flow_image *image)
{
    _cleanup_(exploring_deinit) struct exploring exploring = {.image = image};
    exploring.seen = calloc(image->blocks.count + 1, 1);
    exploring.heads = calloc(image->functions.count + 1, sizeof *exploring.heads);
    if (exploring.seen == NULL || exploring.heads == NULL)
        return error_no_memory();
    for (size_t f = 0; f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        if (function->block_count != 0 && function->owner == f)
            TRY(push(&exploring, function->first_block));
    }
    while (exploring.work.count != 0)
        TRY(visit(&exploring, exploring.work.items[--exploring.work.count]));
    return NULL;
}
