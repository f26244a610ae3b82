// SPDX-License-Identifier: GPL-3.0-or-later
// A list of strings that it owns: the words of a command, an environment, patterns. Where there is
// a word, a NULL follows the last one, so that `items` can be handed to exec().
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
// Replaces all of them by a command for the shell; an empty text leaves no words.
_must_check_ struct error *words_shell(struct words *words, const char *text, size_t size);
// "NAME=VALUE", in place of another one of that name.
_must_check_ struct error *words_set_variable(struct words *words, const char *text, size_t size);

#endif
