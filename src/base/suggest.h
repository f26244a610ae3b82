// Which known name was meant by a misspelt one.
#ifndef ORDEAL_BASE_SUGGEST_H
#define ORDEAL_BASE_SUGGEST_H

#include <stddef.h>

// How far apart two names are: insertions, deletions, replacements and swaps of neighbours.
// Names over 40 bytes are far from everything.
size_t suggest_distance(const char *wrong, const char *name);
// Names at least this far are no suggestion.
size_t suggest_limit(const char *wrong);

// The name most like `wrong`, or NULL if none is. Names end with NULL.
const char *suggest(const char *wrong, const char *const *names);

#endif
