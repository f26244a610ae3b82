// SPDX-License-Identifier: GPL-3.0-or-later
// What the code before a call does to descriptors. See descriptors.h.
#include "callsite/descriptors.h"

#include <string.h>

#define WRAPPER_BLOCKS 16 // of a function that closes and does little else

static bool is_close(const struct flow_image *image, uint32_t callee)
{
    return flow_callee_is_import(callee) &&
           strcmp(image->imports.items[flow_callee_import(callee)].name, "close") == 0;
}

static bool closes(const struct flow_image *image, uint32_t callee)
{
    if (callee == FLOW_NONE || flow_callee_is_import(callee))
        return is_close(image, callee);
    const struct flow_function *function = &image->functions.items[callee];
    for (uint32_t i = 0; function->block_count <= WRAPPER_BLOCKS && i < function->block_count;
         i++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + i];
        if ((block->end == FLOW_CALLS || block->end == FLOW_TAIL) && is_close(image, block->callee))
            return true;
    }
    return false;
}

static const struct flow_block *block_of(const struct flow_image *image, const struct site *site)
{
    const struct flow_function *function = &image->functions.items[site->function];
    for (uint32_t i = 0; i < function->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + i];
        if (block->count != 0 &&
            flow_address(image, &image->insns.items[block->first + block->count - 1]) ==
                site->address)
            return block;
    }
    return NULL;
}

bool site_follows_close(const struct flow_image *image, const struct site *site)
{
    const struct flow_block *block = block_of(image, site);
    for (uint32_t i = 0; block != NULL && i < block->in_count; i++) {
        const struct flow_block *before =
            &image->blocks.items[image->edges.items[block->edges_in + i].block];
        if (before->end != FLOW_CALLS || !closes(image, before->callee))
            return false;
    }
    return block != NULL && block->in_count != 0;
}
