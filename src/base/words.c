// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of strings that own their strings and end with NULL, as exec() takes them.
#include "base/words.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

struct error *words_add(struct words *words, const char *text, size_t size)
{
    if (memchr(text, '\0', size) != NULL)
        return error_new("a NUL byte has no place here");
    char *copy = strndup(text, size);
    if (copy == NULL)
        return error_no_memory();
    // Two elements: the word and the NULL behind it.
    if (ARRAY_ADD(words) == NULL || ARRAY_ADD(words) == NULL) {
        words->count -= words->count != 0 && words->items[words->count - 1] == NULL;
        free(copy);
        return error_no_memory();
    }
    words->count--;
    words->items[words->count - 1] = copy;
    return NULL;
}

void words_clear(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    words->count = 0;
    if (words->items != NULL)
        words->items[0] = NULL;
}

void words_deinit(struct words *words)
{
    words_clear(words);
    ARRAY_DEINIT(words);
}

struct error *words_shell(struct words *words, const char *text, size_t size)
{
    words_clear(words);
    if (size == 0)
        return NULL;
    TRY(words_add(words, "/bin/sh", strlen("/bin/sh")));
    TRY(words_add(words, "-c", strlen("-c")));
    return words_add(words, text, size);
}

struct error *words_set_variable(struct words *words, const char *text, size_t size)
{
    const char *equals = memchr(text, '=', size);
    if (equals == NULL || equals == text)
        return error_new("expected NAME=VALUE");
    size_t name = (size_t)(equals - text) + 1;
    for (size_t i = 0; i < words->count; i++) {
        if (strncmp(words->items[i], text, name) != 0)
            continue;
        if (memchr(text, '\0', size) != NULL)
            return error_new("a NUL byte has no place here");
        char *copy = strndup(text, size);
        if (copy == NULL)
            return error_no_memory();
        free(words->items[i]);
        words->items[i] = copy;
        return NULL;
    }
    return words_add(words, text, size);
}

const char *words_variable(const struct words *words, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < words->count; i++)
        if (strncmp(words->items[i], name, size) == 0 && words->items[i][size] == '=')
            return words->items[i] + size + 1;
    return NULL;
}
