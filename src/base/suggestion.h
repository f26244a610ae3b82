// SPDX-License-Identifier: GPL-3.0-or-later
// "Did you mean": suggestions for mistyped names.
#ifndef ORDEAL_BASE_SUGGESTION_H
#define ORDEAL_BASE_SUGGESTION_H

#include <stddef.h>

// The candidate that `word` is probably a slip of the hand for. Offer candidates one by one.
struct suggestion {
    const char *word;
    size_t size;
    const char *best;
    size_t distance;
};
struct suggestion suggestion_start(const char *word, size_t size);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);
// " (did you mean 'x'?)" or "", in static storage of the caller: at least SUGGESTION_SIZE bytes.
#define SUGGESTION_SIZE 96
const char *suggestion_text(const struct suggestion *suggestion, char storage[SUGGESTION_SIZE]);

#endif
