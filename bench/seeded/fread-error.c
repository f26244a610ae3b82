// SPDX-License-Identifier: GPL-3.0-or-later
// Copies a file until fread() gives nothing, for whatever reason.
#include "common.h"

int main(void)
{
    char buffer[64];
    size_t got;
    FILE *from = fopen("input.txt", "r");
    check(from != NULL, "input.txt");
    FILE *to = fopen("copy", "w");
    check(to != NULL, "copy");
    while ((got = fread(buffer, 1, sizeof buffer, from)) > 0) // SEEDED
        check(fwrite(buffer, 1, got, to) == got, "copy");
    CHECK(!ferror(from), "input.txt");
    check(fclose(to) == 0, "copy");
    fclose(from);
    return finish();
}
