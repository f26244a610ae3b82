// SPDX-License-Identifier: GPL-3.0-or-later
// One word out of several that are allowed, "a|b|c".
#ifndef ORDEAL_BASE_CHOICE_H
#define ORDEAL_BASE_CHOICE_H

#include "base/error.h"

#include <stddef.h>

// The index of a word, or -1.
int choice_find(const char *values, const char *word, size_t size);
// Likewise; an error names the words that are allowed, and the one that may be meant.
_must_check_ struct error *choice_parse(const char *values, const char *word, size_t size,
                                        int *ret_index);
// The error itself.
_must_check_ struct error *choice_error(const char *values, const char *word, size_t size);
// The word with that index; "" if there is none.
const char *choice_word(const char *values, int index, size_t *ret_size);

#endif
