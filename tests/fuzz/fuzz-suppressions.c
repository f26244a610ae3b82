// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of suppressions, and what they are compared with.
#include "campaign/suppress.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char stack[] = "f at /a/b.c:1 (tool)\nlib.so+0x12\ng (tool)\n(\n at (";
    struct suppressions list = {0};
    struct error *error = suppressions_parse(&list, "fuzz", (const char *)data, size);
    for (size_t i = 0; error == NULL && i < list.items.count; i++)
        suppression_matches(&list.items.items[i],
                            &(struct suppress_about){"crash", "read", "EIO", stack});
    error_free(error);
    suppressions_deinit(&list);
    return 0;
}
