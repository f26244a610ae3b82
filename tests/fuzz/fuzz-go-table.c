// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of Go's table: every function is looked up by its address, with its frame and
// line.
#include "elf/go-table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_FUNCTIONS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct go_table table;
    struct go_function function, found;
    if (!go_table_open(data, size, 0x1000, &table))
        return 0;
    for (uint64_t i = 0; i < table.count && i < MOST_FUNCTIONS; i++) {
        if (!go_table_at(&table, i, &function))
            continue;
        const char *file = NULL;
        unsigned line = 0;
        int64_t frame = 0;
        uint64_t address = function.entry + (function.end - function.entry) / 2;
        if (go_part_of(function.name) > GO_PROGRAM)
            abort();
        if (go_table_frame(&table, &function, address, &frame) && frame < 0)
            abort();
        if (go_table_line(&table, &function, address, &file, &line) && strlen(file) >= size)
            abort();
        if (go_table_find(&table, address, &found) &&
            (found.entry > address || found.end <= address))
            abort();
    }
    return 0;
}
