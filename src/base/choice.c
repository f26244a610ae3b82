// SPDX-License-Identifier: GPL-3.0-or-later
// Finds a word in a list "a|b|c", and makes the error for a word that is not in it.
#include "base/choice.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/suggestion.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 60 // bytes of a wrong word that an error shows

int choice_find(const char *values, const char *word, size_t size)
{
    int index = 0;
    for (const char *at = values;; at++, index++) {
        size_t length = strcspn(at, "|");
        if (length == size && memcmp(at, word, size) == 0)
            return index;
        at += length;
        if (*at == '\0')
            return -1;
    }
}

const char *choice_word(const char *values, int index, size_t *ret_size)
{
    const char *at = values;
    for (; index > 0; index--) {
        at += strcspn(at, "|");
        at += *at == '|';
    }
    *ret_size = strcspn(at, "|");
    return at;
}

struct error *choice_error(const char *values, const char *word, size_t size)
{
    struct suggestion meant = suggestion_start(word, size);
    _cleanup_free_ char *words = strdup(values);
    _cleanup_(buffer_deinit) struct buffer list = {0};
    if (words == NULL)
        return error_no_memory();
    char *rest = words;
    for (char *allowed; (allowed = strsep(&rest, "|")) != NULL;) {
        suggestion_offer(&meant, allowed);
        const char *between = list.size == 0 ? "" : rest == NULL ? " or " : ", ";
        TRY(buffer_printf(&list, "%s%s", between, allowed));
    }
    char storage[SUGGESTION_SIZE];
    return error_new("expected %s, not '%.*s'%s", list.data, size < SHOWN ? (int)size : SHOWN, word,
                     suggestion_text(&meant, storage));
}

struct error *choice_parse(const char *values, const char *word, size_t size, int *ret_index)
{
    int index = choice_find(values, word, size);
    if (index < 0)
        return choice_error(values, word, size);
    *ret_index = index;
    return NULL;
}
