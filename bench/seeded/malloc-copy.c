// SPDX-License-Identifier: GPL-3.0-or-later
// The longest line of a text. An allocation is used as it comes.
#include "common.h"

int main(void)
{
    char *text = slurp("input.txt");
    char *longest = malloc(strlen(text) + 1); // SEEDED
    CHECK(longest != NULL, "memory");
    longest[0] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strlen(line) > strlen(longest))
            strcpy(longest, line);
    puts(longest);
    free(longest);
    free(text);
    return finish();
}
