// SPDX-License-Identifier: GPL-3.0-or-later
// Opens an image by running the steps of internal.h in their order, and closes it.
#include "flow/image.h"

#include "base/cleanup.h"
#include "flow/internal.h"
#include "isa/need.h"

#include <stdlib.h>

static void image_closep(struct flow_image **image)
{
    flow_image_close(*image);
}

struct error *flow_image_open(const struct elf_object *object, struct flow_image **ret_image)
{
    TRY(isa_need());
    _cleanup_(image_closep) struct flow_image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return error_no_memory();
    image->object = object;
    TRY(flow_load_slots(image));
    TRY(flow_load_functions(image));
    flow_replace_thunks(image);
    TRY(flow_build_blocks(image));
    TRY(flow_find_returns(image));
    flow_follow_pointers(image);
    TRY(flow_find_targets(image));
    TRY(flow_measure_stack(image));
    *ret_image = TAKE(image);
    return NULL;
}

void flow_image_close(struct flow_image *image)
{
    if (image == NULL)
        return;
    ARRAY_DEINIT(&image->insns);
    ARRAY_DEINIT(&image->functions);
    ARRAY_DEINIT(&image->blocks);
    ARRAY_DEINIT(&image->edges);
    ARRAY_DEINIT(&image->imports);
    ARRAY_DEINIT(&image->slots);
    ARRAY_DEINIT(&image->thunks);
    ARRAY_DEINIT(&image->targets);
    free(image);
}
