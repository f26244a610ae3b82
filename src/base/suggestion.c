// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the candidate with the smallest edit distance to a mistyped word. It only runs when there
// is an error to report, so it need not be fast.
#include "base/suggestion.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct suggestion suggestion_start(const char *word, size_t size)
{
    return (struct suggestion){.word = word, .size = size, .distance = SIZE_MAX};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

#define LONGEST_WORD 40

// Edits between two words: insert, delete, replace, swap neighbours.
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][LONGEST_WORD + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            row[j] = smaller(smaller(row[j - 1], above[j]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], twice[j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
    size_t size = strlen(candidate);
    size_t difference = size > suggestion->size ? size - suggestion->size : suggestion->size - size;
    if (size > LONGEST_WORD || suggestion->size > LONGEST_WORD || difference > 2)
        return;
    size_t distance = edit_distance(suggestion->word, suggestion->size, candidate, size);
    if (distance < suggestion->distance && distance <= 2 && distance < suggestion->size) {
        suggestion->distance = distance;
        suggestion->best = candidate;
    }
}

const char *suggestion_text(const struct suggestion *suggestion, char storage[SUGGESTION_SIZE])
{
    storage[0] = '\0';
    if (suggestion->best != NULL)
        snprintf(storage, SUGGESTION_SIZE, " (did you mean '%s'?)", suggestion->best);
    return storage;
}
