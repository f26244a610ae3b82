// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the output of gcov, "COUNT:LINE:TEXT", and marks the lines that ran.
#include "base/array.h"
#include "base/cleanup.h"
#include "injectors/library/gcov.h"

#include <stdlib.h>
#include <string.h>

#define LAST_LINE 1000000u // of a source file

enum mark { MARK_CODE = 1 << 0, MARK_BEFORE = 1 << 1, MARK_AFTER = 1 << 2 };
struct gcov_file {
    char *name;
    ARRAY(unsigned char) marks; // by line
};
struct gcov_lines {
    ARRAY(struct gcov_file) files;
};

struct error *gcov_lines_new(struct gcov_lines **ret_lines)
{
    *ret_lines = calloc(1, sizeof **ret_lines);
    return *ret_lines != NULL ? NULL : error_no_memory();
}

void gcov_lines_free(struct gcov_lines *lines)
{
    for (size_t i = 0; lines != NULL && i < lines->files.count; i++) {
        free(lines->files.items[i].name);
        ARRAY_DEINIT(&lines->files.items[i].marks);
    }
    if (lines != NULL)
        ARRAY_DEINIT(&lines->files);
    free(lines);
}

static struct error *find_file(struct gcov_lines *lines, const char *name, size_t size,
                               size_t *ret_index)
{
    for (size_t i = 0; i < lines->files.count; i++)
        if (strlen(lines->files.items[i].name) == size &&
            memcmp(lines->files.items[i].name, name, size) == 0) {
            *ret_index = i;
            return NULL;
        }
    char *copy = strndup(name, size);
    struct gcov_file *file = ARRAY_ADD(&lines->files);
    if (copy == NULL || file == NULL) {
        lines->files.count -= file != NULL;
        free(copy);
        return error_no_memory();
    }
    *file = (struct gcov_file){.name = copy};
    *ret_index = lines->files.count - 1;
    return NULL;
}

static struct error *mark(struct gcov_file *file, unsigned long line, bool run, bool reference)
{
    while (file->marks.count <= line) {
        unsigned char *added = ARRAY_ADD(&file->marks);
        if (added == NULL)
            return error_no_memory();
        *added = 0;
    }
    file->marks.items[line] |= MARK_CODE;
    if (run)
        file->marks.items[line] |= reference ? MARK_BEFORE : MARK_AFTER;
    return NULL;
}

#define NO_FILE ((size_t)-1)

// "        -:    0:Source:name.c", "    #####:   17:text", "       12*:   18:text"
static struct error *read_line(struct gcov_lines *lines, const char *text, size_t size,
                               bool reference, size_t *file)
{
    static const char source[] = "0:Source:";
    const char *colon = memchr(text, ':', size);
    if (colon == NULL)
        return NULL;
    const char *count = text + strspn(text, " ");
    char *end;
    unsigned long line = strtoul(colon + 1, &end, 10);
    size_t rest = size - (size_t)(colon + 1 - text);
    const char *name = memmem(colon + 1, rest, source, strlen(source));
    if (line == 0 && name != NULL) {
        name += strlen(source);
        *file = NO_FILE; // system headers are not part of the target
        if (strncmp(name, "/usr/", 5) == 0)
            return NULL;
        return find_file(lines, name, (size_t)(text + size - name), file);
    }
    if (*file == NO_FILE || line == 0 || line > LAST_LINE || *end != ':' || *count == '-')
        return NULL;
    bool run = *count >= '1' && *count <= '9';
    return run || *count == '#' || *count == '='
               ? mark(&lines->files.items[*file], line, run, reference)
               : NULL;
}

struct error *gcov_lines_add(struct gcov_lines *lines, const char *text, bool reference)
{
    size_t file = NO_FILE;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        TRY(read_line(lines, text, size, reference, &file));
        text += size + (text[size] == '\n');
    }
    return NULL;
}

struct error *gcov_lines_each(const struct gcov_lines *lines,
                              struct error *(*file)(void *data, const char *name, uint64_t lines,
                                                    uint64_t before, uint64_t after),
                              void *data)
{
    for (size_t i = 0; i < lines->files.count; i++) {
        const struct gcov_file *item = &lines->files.items[i];
        uint64_t code = 0, before = 0, after = 0;
        for (size_t j = 0; j < item->marks.count; j++) {
            code += (item->marks.items[j] & MARK_CODE) != 0;
            before += (item->marks.items[j] & MARK_BEFORE) != 0;
            after += (item->marks.items[j] & (MARK_BEFORE | MARK_AFTER)) != 0;
        }
        TRY(file(data, item->name, code, before, after));
    }
    return NULL;
}
