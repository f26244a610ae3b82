// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a campaign file. What is read is written so that it reads back to the same text.
#include "base/cleanup.h"
#include "definition/definition.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct definition empty(void)
{
    struct definition definition = {0};
    if (definition_new(&definition) != NULL)
        abort();
    return definition;
}

static void must(struct error *error)
{
    if (error != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(definition_deinit) struct definition first = empty(), second = empty();
    _cleanup_(buffer_deinit) struct buffer text = {0}, again = {0};
    _cleanup_error_ struct error *error =
        definition_parse(&first, "fuzz", (const char *)data, size);
    if (error != NULL)
        return 0;
    must(definition_write(&first, &text));
    must(definition_parse(&second, "written", text.data, text.size));
    must(definition_write(&second, &again));
    if (text.size != again.size || memcmp(text.data, again.data, text.size) != 0)
        abort();
    return 0;
}
