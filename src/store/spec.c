// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a stored spec into its rules.
#include "store/spec.h"

#include <stdbool.h>
#include <string.h>

// The length of the rule at `text`. Quoted words may hold anything.
static size_t part_size(const char *text)
{
    bool quoted = false;
    size_t at = 0;
    for (; text[at] != '\0'; at++) {
        if (!quoted && text[at] == SPEC_THEN[0] &&
            strncmp(text + at, SPEC_THEN, strlen(SPEC_THEN)) == 0)
            break;
        if (quoted && text[at] == '\\' && text[at + 1] != '\0')
            at++;
        else if (text[at] == '"')
            quoted = !quoted;
    }
    return at;
}

const char *spec_part(const char *spec, size_t index, size_t *ret_size)
{
    for (;; index--) {
        *ret_size = part_size(spec);
        if (index == 0)
            return spec;
        if (spec[*ret_size] == '\0')
            return NULL;
        spec += *ret_size + strlen(SPEC_THEN);
    }
}
