// SPDX-License-Identifier: GPL-3.0-or-later
// Programs with faults inside, as bytes from anywhere: read, and every fault enabled that there is.
#include "mutate/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *enable_some(struct image *image)
{
    bool *enabled = NULL;
    struct image_patches patches = {0};
    struct error *error = image_enabled(image, &enabled);
    for (size_t i = 0; error == NULL && i < image->candidates.count && i < 8; i++) {
        enabled[i] = !enabled[i];
        error = image_enable(image, enabled, &patches);
        image_patches_deinit(&patches);
    }
    free(enabled);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer bytes = {0};
    struct image image = {0};
    error_free(buffer_append(&bytes, data, size));
    struct error *error = image_parse("fuzzed", &bytes, &image);
    if (error == NULL)
        error = enable_some(&image);
    error_free(error);
    image_close(&image);
    return 0;
}
