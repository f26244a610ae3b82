// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the calls of every function of an image, and looks for functions that have no result.
#include "callsite/callers.h"

#include <stdlib.h>

#define MOST_BLOCKS 32 // looked at, from the function's entry on

// The function of the image that a block calls, or FLOW_NONE.
static uint32_t called(const struct flow_image *image, const struct flow_block *block)
{
    bool calls = block->end == FLOW_CALLS || block->end == FLOW_TAIL;
    if (!calls || block->callee == FLOW_NONE || flow_callee_is_import(block->callee))
        return FLOW_NONE;
    return image->functions.items[block->callee].owner;
}

struct error *callers_init(const struct flow_image *image, struct callers *ret_callers)
{
    size_t functions = image->functions.count, count = 0;
    uint32_t *first = calloc(functions + 2, sizeof *first);
    for (size_t b = 0; first != NULL && b < image->blocks.count; b++) {
        uint32_t function = called(image, &image->blocks.items[b]);
        if (function == FLOW_NONE)
            continue;
        first[function + 2]++;
        count++;
    }
    uint32_t *blocks = malloc((count + 1) * sizeof *blocks);
    if (first == NULL || blocks == NULL) {
        free(first);
        free(blocks);
        return error_no_memory();
    }
    for (size_t f = 2; f < functions + 2; f++)
        first[f] += first[f - 1];
    for (size_t b = 0; b < image->blocks.count; b++) {
        uint32_t function = called(image, &image->blocks.items[b]);
        if (function != FLOW_NONE)
            blocks[first[function + 1]++] = (uint32_t)b;
    }
    *ret_callers = (struct callers){first, blocks};
    return NULL;
}

void callers_deinit(struct callers *callers)
{
    free(callers->first);
    free(callers->blocks);
}

static bool writes_result(const struct flow_image *image, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        if ((insn->writes >> ISA_RETURN & 1) != 0 || insn->kind == ISA_CALL ||
            insn->kind == ISA_CALL_INDIRECT)
            return true;
    }
    return false;
}

bool callers_get_no_result(const struct flow_image *image, uint32_t function)
{
    uint32_t blocks[MOST_BLOCKS];
    unsigned count = 0, next = 0;
    if (image->functions.items[function].block_count == 0)
        return false;
    blocks[count++] = image->functions.items[function].first_block;
    while (next < count) {
        const struct flow_block *block = &image->blocks.items[blocks[next++]];
        if (writes_result(image, block))
            continue;
        if (block->end == FLOW_RETURNS)
            return true;
        for (uint32_t i = 0; i < block->out_count && count < MOST_BLOCKS; i++) {
            uint32_t to = image->edges.items[block->edges_out + i].block;
            unsigned seen = 0;
            while (seen < count && blocks[seen] != to)
                seen++;
            if (seen == count)
                blocks[count++] = to;
        }
    }
    return false;
}
