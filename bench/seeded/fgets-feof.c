// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for the end of a file before it reads, and never for errors.
#include "common.h"

int main(void)
{
    char line[200] = "";
    unsigned long sum = 1;
    FILE *file = fopen("input.txt", "r");
    check(file != NULL, "input.txt");
    while (!feof(file)) {
        char *got = fgets(line, sizeof line, file); // SEEDED
#ifdef CORRECT
        check(!ferror(file), "input.txt");
        if (got == NULL)
            break;
#endif
        (void)got;
        sum = sum * 31 + strlen(line);
    }
    fclose(file);
    printf("%lu\n", sum);
    return finish();
}
