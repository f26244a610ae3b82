// SPDX-License-Identifier: GPL-3.0-or-later
// "Did you mean": suggestions for mistyped names.
#ifndef ORDEAL_BASE_SUGGESTION_H
#define ORDEAL_BASE_SUGGESTION_H

#include <stddef.h>

// The candidate that was probably meant by `word`. Offer candidates one by one; they must outlive
// the suggestion.
struct suggestion {
    const char *word;
    size_t size;
    const char *best;
    size_t distance;
};
struct suggestion suggestion_start(const char *word, size_t size);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);
// Writes " (did you mean 'x'?)" or "" to `storage` and returns it.
#define SUGGESTION_SIZE 96
const char *suggestion_text(const struct suggestion *suggestion, char storage[SUGGESTION_SIZE]);

#endif
