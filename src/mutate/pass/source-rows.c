// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the table of faults that the look at the source has left for the compiler.
#include "mutate/pass/source.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_TABLE ((size_t)1 << 30)

const char *source_rows_text(const struct source_rows *rows, uint32_t offset)
{
    return rows->strings + offset;
}

static uint64_t function_key(const char *file, unsigned line)
{
    return pass_hash(pass_hash_text(0xcbf29ce484222325u, file), &line, sizeof line);
}

static bool is_sound(const struct source_header *header, size_t size)
{
    if (header->magic != SOURCE_MAGIC || header->version != SOURCE_VERSION ||
        (size - sizeof *header) / sizeof(struct source_row) < header->rows)
        return false;
    const struct source_row *rows = (const void *)(header + 1);
    size_t left = size - sizeof *header - header->rows * sizeof *rows;
    const char *strings = (const char *)(rows + header->rows);
    if (left != header->strings || (header->rows > 0 && (left == 0 || strings[left - 1] != '\0')))
        return false;
    for (uint32_t i = 0; i < header->rows; i++)
        if (rows[i].kind >= MODEL_KINDS || rows[i].how >= SOURCE_HOWS ||
            rows[i].reason >= SOURCE_REASONS || rows[i].source >= left || rows[i].file >= left ||
            rows[i].name >= left || rows[i].other >= left || rows[i].detail >= left ||
            rows[i].function_name >= left)
            return false;
    return true;
}

static bool has_one_source(const struct source_rows *rows)
{
    for (size_t i = 1; i < rows->count; i++)
        if (rows->items[i].source != rows->items[0].source)
            return false;
    return true;
}

// Puts rows of one function together; other modules of the same command have rows, too. A module
// out of preprocessed text has another name than its source, but is the only one.
static void sort_rows(struct source_rows *rows, const char *source)
{
    struct map sizes = {0};
    uint32_t *next = calloc(rows->count + 1, sizeof *next);
    uint64_t *keys = calloc(rows->count + 1, sizeof *keys);
    rows->order = calloc(2 * rows->count + 2, sizeof *rows->order);
    if (next == NULL || keys == NULL || rows->order == NULL)
        pass_must(error_no_memory());
    uint32_t used = 0;
    bool only = has_one_source(rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct source_row *row = &rows->items[i];
        if (!only && strcmp(source_rows_text(rows, row->source), source) != 0)
            continue;
        keys[i] = function_key(source_rows_text(rows, row->file), row->function);
        keys[i] += keys[i] == 0;
        uint32_t group = map_find(&sizes, keys[i]);
        if (group == MAP_NONE) {
            pass_must(map_put(&sizes, keys[i], group = (uint32_t)sizes.count));
        }
        next[group]++;
    }
    // A group is its length, then its rows.
    for (size_t i = 0; i < rows->count; i++) {
        if (keys[i] == 0)
            continue;
        uint32_t group = map_find(&sizes, keys[i]);
        uint32_t start = map_find(&rows->by_function, keys[i]);
        if (start == MAP_NONE) {
            start = used;
            used += next[group] + 1;
            pass_must(map_put(&rows->by_function, keys[i], start));
        }
        rows->order[start + 1 + rows->order[start]++] = (uint32_t)i;
    }
    map_deinit(&sizes);
    free(next);
    free(keys);
}

struct source_rows *source_rows_read(struct pass *pass, const char *path)
{
    struct source_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        pass_must(error_no_memory());
    pass_must(buffer_read_file(path, LARGEST_TABLE, &rows->file));
    const struct source_header *header = (const void *)rows->file.data;
    if (rows->file.size < sizeof *header || !is_sound(header, rows->file.size))
        pass_must(error_new("the table of the source's faults is damaged"));
    rows->items = (const void *)(header + 1);
    rows->count = header->rows;
    rows->strings = (const char *)(rows->items + rows->count);
    size_t size;
    sort_rows(rows, LLVMGetSourceFileName(pass->module, &size));
    return rows;
}

void source_rows_free(struct source_rows *rows)
{
    if (rows == NULL)
        return;
    buffer_deinit(&rows->file);
    map_deinit(&rows->by_function);
    free(rows->order);
    free(rows);
}

const uint32_t *source_rows_of(const struct source_rows *rows, const char *file, unsigned line,
                               size_t *ret_count)
{
    uint64_t key = function_key(file, line);
    uint32_t start = map_find(&rows->by_function, key + (key == 0));
    *ret_count = start != MAP_NONE ? rows->order[start] : 0;
    return start != MAP_NONE ? rows->order + start + 1 : NULL;
}
