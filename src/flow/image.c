// SPDX-License-Identifier: GPL-3.0-or-later
// See image.h: the order of the steps.
#include "flow/image.h"

#include "base/cleanup.h"
#include "flow/internal.h"

#include <stdlib.h>

static void image_closep(struct flow_image **image)
{
    flow_image_close(*image);
}

struct error *flow_image_open(const struct elf_object *object, struct flow_image **ret_image)
{
    _cleanup_(image_closep) struct flow_image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return error_no_memory();
    image->object = object;
    TRY(flow_load_slots(image));
    TRY(flow_load_functions(image));
    TRY(flow_build_blocks(image));
    TRY(flow_find_returns(image));
    TRY(flow_measure_stack(image));
    *ret_image = TAKE(image);
    return NULL;
}

void flow_image_close(struct flow_image *image)
{
    if (image == NULL)
        return;
    ARRAY_DEINIT(&image->facts);
    ARRAY_DEINIT(&image->functions);
    ARRAY_DEINIT(&image->blocks);
    ARRAY_DEINIT(&image->edges);
    ARRAY_DEINIT(&image->imports);
    ARRAY_DEINIT(&image->slots);
    free(image);
}

uint32_t flow_block_at(const struct flow_image *image, uint32_t fact)
{
    uint32_t number = flow_function_at(image, flow_address(image, &image->facts.items[fact]));
    if (number == FLOW_NONE)
        return FLOW_NONE;
    const struct flow_function *function = &image->functions.items[number];
    uint32_t low = 0, high = function->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (image->blocks.items[function->first_block + middle].first <= fact)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? FLOW_NONE : function->first_block + low - 1;
}
