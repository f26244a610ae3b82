// SPDX-License-Identifier: GPL-3.0-or-later
// Collects words in an array that grows; growing is not checked.
#include "common.h"

int main(void)
{
    char *text = slurp("input.txt");
    size_t count = 0, room = 0;
    char **words = NULL;
    for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        if (count == room) {
            room = room == 0 ? 4 : room * 2;
            char **grown = realloc(words, room * sizeof *words); // SEEDED
            CHECK(grown != NULL, "memory");
            words = grown;
        }
        words[count++] = word;
    }
    while (count > 0)
        puts(words[--count]);
    free(words);
    free(text);
    return finish();
}
