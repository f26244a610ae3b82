// SPDX-License-Identifier: GPL-3.0-or-later
// One word out of a list of allowed words, written as "a|b|c".
#ifndef ORDEAL_BASE_CHOICE_H
#define ORDEAL_BASE_CHOICE_H

#include "base/error.h"

#include <stddef.h>

// The index of a word in the list, from 0; -1 if it is not in it.
int choice_find(const char *values, const char *word, size_t size);
// The same; the error names the allowed words and suggests the one that may be meant.
_must_check_ struct error *choice_parse(const char *values, const char *word, size_t size,
                                        int *ret_index);
// Makes that error.
_must_check_ struct error *choice_error(const char *values, const char *word, size_t size);
// The word with that index, which is not ended by NUL; "" with size 0 if there is none.
const char *choice_word(const char *values, int index, size_t *ret_size);

#endif
