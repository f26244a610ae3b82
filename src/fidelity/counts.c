// SPDX-License-Identifier: GPL-3.0-or-later
// Parses one file of counts. Targets wrote it, so every number is checked.
#include "fidelity/counts.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "mutate/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 30)

static struct error *broken(const char *path, size_t offset, const char *what)
{
    return error_new("%s: %s at byte %zu; it is no file of counts, or one of another build", path,
                     what, offset);
}

// A process describes its counters module by module, each from front to back. If it is killed
// meanwhile, zeros follow.
static bool is_incomplete(const struct counts_header *header)
{
    static const struct counts_header nothing;
    if (header->magic == 0)
        return memcmp(header, &nothing, sizeof nothing) == 0;
    return header->magic == COUNTS_MAGIC &&
           (header->version == 0 || header->version == COUNTS_VERSION) &&
           (header->size == 0 || header->key == 0);
}

static bool is_blank(const struct cursor *rest)
{
    for (size_t i = rest->at; i < rest->size; i++)
        if (rest->data[i] != 0)
            return false;
    return true;
}

static struct error *read_module(struct counts_file *file, struct cursor *cursor)
{
    struct counts_header header;
    size_t at = cursor->at;
    cursor_copy(cursor, &header, sizeof header);
    if (!cursor->failed && is_incomplete(&header) && is_blank(cursor)) {
        file->cut = at != 0; // all zero: the process had not started to count
        cursor->at = cursor->size;
        return NULL;
    }
    if (cursor->failed || header.magic != COUNTS_MAGIC)
        return broken(file->path, at, "there is something else than counts");
    if (header.version != COUNTS_VERSION)
        return error_new("%s was written by a program that another version of Ordeal built (%u, "
                         "not %u); build it again",
                         file->path, header.version, COUNTS_VERSION);
    if (header.size < sizeof header || header.size % COUNTS_PAGE != 0 ||
        header.size > cursor->size - at ||
        header.counters > (header.size - sizeof header) / sizeof(uint64_t))
        return broken(file->path, at, "counts are cut off");
    struct counts_module *module = ARRAY_ADD(&file->modules);
    if (module == NULL)
        return error_no_memory();
    *module = (struct counts_module){header.key, cursor->at, (size_t)header.counters};
    cursor->at = at + (size_t)header.size;
    return NULL;
}

// The path of a mapped file from the kernel's name for it. The kernel appends " (deleted)" if the
// file is gone, and escapes line breaks.
static char *path_of(const char *name, size_t most)
{
    static const char gone[] = " (deleted)", line_break[] = "\\012";
    char *path = strndup(name, most), *found;
    if (path == NULL || access(path, F_OK) == 0)
        return path;
    size_t size = strlen(path), ending = sizeof gone - 1;
    if (size > ending && strcmp(path + size - ending, gone) == 0)
        path[size - ending] = '\0';
    while (access(path, F_OK) != 0 && (found = strstr(path, line_break)) != NULL) {
        *found = '\n';
        memmove(found + 1, found + sizeof line_break - 1,
                strlen(found + sizeof line_break - 1) + 1);
    }
    return path;
}

static struct error *parse(struct counts_file *file)
{
    const char *data = file->bytes.data;
    if (file->bytes.size == 0) // the process died before it had allocated counters
        return (file->program = strdup("")) != NULL ? NULL : error_no_memory();
    if (file->bytes.size % COUNTS_PAGE != 0 || file->bytes.size < 2 * COUNTS_PAGE)
        return broken(file->path, file->bytes.size, "counts are cut off");
    struct cursor cursor = {(const unsigned char *)data, file->bytes.size - COUNTS_PAGE, 0, false};
    while (cursor.at < cursor.size)
        TRY(read_module(file, &cursor));
    const char *name = data + cursor.size;
    file->program = path_of(name, COUNTS_PAGE);
    return file->program != NULL ? NULL : error_no_memory();
}

struct error *counts_file_parse(const char *path, struct buffer *bytes,
                                struct counts_file *ret_file)
{
    struct counts_file file = {.path = strdup(path), .bytes = *bytes};
    *bytes = (struct buffer){0};
    struct error *error = file.path != NULL ? parse(&file) : error_no_memory();
    if (error != NULL)
        counts_file_close(&file);
    else
        *ret_file = file;
    return error;
}

struct error *counts_file_read(const char *path, struct counts_file *ret_file)
{
    struct buffer bytes = {0};
    TRY(buffer_read_regular(path, FILE_LIMIT, &bytes));
    return counts_file_parse(path, &bytes, ret_file);
}

void counts_file_close(struct counts_file *file)
{
    free(file->path);
    free(file->program);
    buffer_deinit(&file->bytes);
    ARRAY_DEINIT(&file->modules);
    *file = (struct counts_file){0};
}

struct error *counts_file_add(const struct counts_file *file,
                              const struct fidelity_subject *subject, uint64_t *counts)
{
    for (size_t i = 0; i < file->modules.count; i++) {
        const struct counts_module *module = &file->modules.items[i];
        size_t number = fidelity_module_by_key(subject, module->key);
        if (number == SIZE_MAX || subject->modules.items[number].counters != module->counters)
            return error_new(
                "%s has counts of a source file that is not in the programs looked at; "
                "was %s built anew since? Count again, or name it with --binary",
                file->path, *file->program != '\0' ? file->program : "one of them");
        const size_t *blocks =
            subject->counter_blocks.items + subject->modules.items[number].first_counter;
        for (size_t j = 0; j < module->counters; j++) {
            uint64_t count;
            memcpy(&count, file->bytes.data + module->offset + j * sizeof count, sizeof count);
            uint64_t *sum = blocks[j] != SIZE_MAX ? &counts[blocks[j]] : NULL;
            if (sum != NULL && __builtin_add_overflow(*sum, count, sum))
                *sum = UINT64_MAX;
        }
    }
    return NULL;
}
