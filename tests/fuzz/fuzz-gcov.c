// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of what gcov prints about files that a target wrote.
#include "injectors/library/gcov.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// No file has more lines with a mark than lines.
static struct error *check(void *data, const char *name, uint64_t lines, uint64_t before,
                           uint64_t after)
{
    (void)data;
    if (name == NULL || before > lines || after > lines)
        abort();
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gcov_lines *lines = NULL;
    char *text = strndup((const char *)data, size);
    struct error *error = text != NULL ? gcov_lines_new(&lines) : NULL;
    if (error == NULL && lines != NULL)
        error = gcov_lines_add(lines, text, size % 2 == 0);
    if (error == NULL && lines != NULL)
        error = gcov_lines_add(lines, text, true);
    if (error == NULL && lines != NULL)
        error = gcov_lines_each(lines, check, NULL);
    error_free(error);
    gcov_lines_free(lines);
    free(text);
    return 0;
}
