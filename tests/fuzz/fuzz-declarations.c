// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of C headers.
#include "base/cleanup.h"
#include "profile/header/declarations.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    error_free(declarations_parse(&declarations, (const char *)data, size));
    error_free(declarations_parse(&declarations, "f_type f(void);", 15));
    (void)declarations_find(&declarations, "f", 1);
    (void)declarations_documented(&declarations, "f", 1);
    return 0;
}
