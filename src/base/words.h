// SPDX-License-Identifier: GPL-3.0-or-later
// A list of strings that it owns: the words of a command, an environment, patterns. It starts
// zeroed and ends with words_deinit(). If it is not empty, a NULL follows the last word, so that
// `items` can be passed to exec().
#ifndef ORDEAL_BASE_WORDS_H
#define ORDEAL_BASE_WORDS_H

#include "base/error.h"

#include <stddef.h>

struct words {
    char **items;
    size_t count, room;
};

// Appends a copy. A NUL byte in the text is an error.
_must_check_ struct error *words_add(struct words *words, const char *text, size_t size);
void words_clear(struct words *words);
void words_deinit(struct words *words);
// Replaces all words by /bin/sh -c TEXT; an empty text leaves no words.
_must_check_ struct error *words_shell(struct words *words, const char *text, size_t size);
// Adds "NAME=VALUE", or replaces the word that sets NAME. Another form is an error.
_must_check_ struct error *words_set_variable(struct words *words, const char *text, size_t size);
// The value of NAME in "NAME=VALUE" words; NULL: there is none.
const char *words_variable(const struct words *words, const char *name);

#endif
