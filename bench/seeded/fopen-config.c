// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a setting from a file that it takes to be there.
#include "common.h"

int main(void)
{
    char line[200];
    FILE *file = fopen("config", "r"); // SEEDED
    CHECK(file != NULL, "config");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "colour=", 7) == 0)
            printf("the colour is %s", line + 7);
    check(!ferror(file), "config");
    fclose(file);
    return finish();
}
