// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/mutate/test-list.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)1 << 24)

static void command_free(char **command)
{
    for (size_t i = 0; command != NULL && command[i] != NULL; i++)
        free(command[i]);
    free(command);
}

void test_list_deinit(struct test_list *list)
{
    for (size_t i = 0; i < list->items.count; i++)
        command_free(list->items.items[i]);
    ARRAY_DEINIT(&list->items);
}

struct error *test_list_add(struct test_list *list, char *const *command)
{
    size_t count = 0;
    while (command[count] != NULL)
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    bool complete = copy != NULL;
    for (size_t i = 0; i < count && complete; i++)
        complete = (copy[i] = strdup(command[i])) != NULL;
    char ***slot = complete ? ARRAY_ADD(&list->items) : NULL;
    if (slot == NULL) {
        command_free(copy);
        return error_no_memory();
    }
    *slot = copy;
    return NULL;
}

struct error *test_list_read(const char *path, struct test_list *list)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_regular(path, LARGEST_FILE, &text));
    for (size_t at = 0; at < text.size;) {
        const char *line = text.data + at, *end = memchr(line, '\n', text.size - at);
        size_t size = end != NULL ? (size_t)(end - line) : text.size - at;
        at += size + 1;
        if (size == 0 || *line == '#')
            continue;
        _cleanup_free_ char *written = strndup(line, size);
        if (written == NULL)
            return error_no_memory();
        TRY(test_list_add(list, (char *[]){(char *)"/bin/sh", (char *)"-c", written, NULL}));
    }
    return list->items.count > 0 ? NULL : error_new("%s has no command", path);
}
