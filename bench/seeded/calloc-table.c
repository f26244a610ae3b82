// SPDX-License-Identifier: GPL-3.0-or-later
// Counts letters in a table that is allocated on first use.
#include "common.h"

static unsigned *table;

static void count(int letter)
{
    if (table == NULL) {
        table = calloc(256, sizeof *table); // SEEDED
        CHECK(table != NULL, "memory");
    }
    table[letter & 255]++;
}

int main(void)
{
    char *text = slurp("input.txt");
    for (char *at = text; *at != '\0'; at++)
        count(*at);
    printf("%u times e\n", table['e']);
    free(table);
    free(text);
    return finish();
}
