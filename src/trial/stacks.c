// SPDX-License-Identifier: GPL-3.0-or-later
// Loads and saves the file of --stacks: a heading with the format, then one hash per line.
#include "trial/stacks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANY        "# call stacks remembered by ordeal run --stacks, format "
#define HEADING    ANY "2\n" // change the number when the runtime hashes stacks in another way
#define FILE_LIMIT (16u << 20)
#define PROBES     64 // entries that the runtime looks at

// Adds a hash where the runtime will look for it. False when there is no room.
static bool set_add(uint64_t *set, uint64_t hash)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        uint64_t *entry = &set[(hash + i) % WIRE_STACK_SET];
        if (*entry == 0 || *entry == hash) {
            *entry = hash;
            return true;
        }
    }
    return false;
}

static struct error *parse(const char *path, const struct buffer *text, uint64_t *set)
{
    const char *line = text->data, *end = text->data + text->size;
    for (unsigned number = 1; line < end; number++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end;
        if (line != stop && *line != '#') {
            char *rest;
            uint64_t hash = strtoull(line, &rest, 16);
            if (rest != stop || hash == 0)
                return error_new("%s:%u: this is not a hash of a call stack", path, number);
            if (!set_add(set, hash))
                return error_new("%s holds too many stacks; start a new file", path);
        }
        line = stop + 1;
    }
    return NULL;
}

struct error *stacks_load(const char *path, struct region *region)
{
    if (region->layout.stack_set == 0 || (access(path, F_OK) < 0 && errno == ENOENT))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(path, FILE_LIMIT, &text));
    if (text.size == 0)
        return NULL;
    if (strncmp(text.data, ANY, strlen(ANY)) != 0)
        return error_new("%s is not a file of --stacks; it will not be overwritten", path);
    if (strncmp(text.data, HEADING, strlen(HEADING)) != 0)
        return error_new("%s is of another version of ordeal, which told call stacks apart in "
                         "another way: none of them would be known; remove it, or name a new file",
                         path);
    return parse(path, &text, (uint64_t *)((char *)region->map + region->layout.stack_set));
}

struct error *stacks_save(const char *path, const struct wire_view *view)
{
    if (view->stack_set == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_append(&text, HEADING, strlen(HEADING)));
    for (size_t i = 0; i < WIRE_STACK_SET; i++)
        if (view->stack_set[i] != 0)
            TRY(buffer_printf(&text, "%016llx\n", (unsigned long long)view->stack_set[i]));
    return file_replace(path, &text);
}
