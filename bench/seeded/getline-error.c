// SPDX-License-Identifier: GPL-3.0-or-later
// getline() ends the loop, at the end of the file or before.
#include "common.h"

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    unsigned lines = 0;
    FILE *file = fopen("input.txt", "r");
    check(file != NULL, "input.txt");
    while (getline(&line, &room, file) >= 0) // SEEDED
        lines++;
    CHECK(feof(file) && !ferror(file), "input.txt");
    free(line);
    fclose(file);
    printf("%u lines\n", lines);
    return finish();
}
