// SPDX-License-Identifier: GPL-3.0-or-later
// A table in a file: nobody asks whether the lines went in.
#include "common.h"

int main(void)
{
    char *text = slurp("users.txt");
    int number = 0;
    FILE *file = fopen("table", "w");
    check(file != NULL, "table");
    for (char *word = strtok(text, "\n"); word != NULL; word = strtok(NULL, "\n"))
        fprintf(file, "%d\t%s\n", ++number, word); // SEEDED
    CHECK(!ferror(file), "table");
    check(fclose(file) == 0, "table");
    free(text);
    return finish();
}
