// See suggest.h.
#include "base/suggest.h"

#include <string.h>

#define LONGEST 40

size_t suggest_distance(const char *wrong, const char *name)
{
    size_t from_size = strlen(wrong), to_size = strlen(name);
    if (from_size > LONGEST || to_size > LONGEST)
        return LONGEST;
    // Somebody who abbreviates means the name, too.
    if (from_size >= 2 && from_size < to_size && strncmp(wrong, name, from_size) == 0)
        return 1;
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= to_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from_size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= to_size; j++) {
            size_t best = above[j - 1] + (wrong[i - 1] != name[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && wrong[i - 1] == name[j - 2] && wrong[i - 2] == name[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[from_size % 3][to_size];
}

size_t suggest_limit(const char *wrong)
{
    return strlen(wrong) / 3 + 2;
}

const char *suggest(const char *wrong, const char *const *names)
{
    const char *best = NULL;
    size_t least = suggest_limit(wrong);
    for (; *names != NULL; names++) {
        size_t found = suggest_distance(wrong, *names);
        if (found < least) {
            least = found;
            best = *names;
        }
    }
    return best;
}
