// SPDX-License-Identifier: GPL-3.0-or-later
// Writes words for a shell.
#ifndef ORDEAL_BASE_SHELL_H
#define ORDEAL_BASE_SHELL_H

#include "base/array.h"

// Appends a word so that a shell reads back the same bytes. Adds quotes only where needed. A word
// with control characters or bytes that are not UTF-8 becomes $'...', which bash, zsh, ksh and
// POSIX of 2024 know.
_must_check_ struct error *shell_put_word(struct buffer *text, const char *word);
// Appends several words with blanks between them.
_must_check_ struct error *shell_put_words(struct buffer *text, char *const *words, size_t count);

#endif
