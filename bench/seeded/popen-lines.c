// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what another program prints, if it could be started.
#include "common.h"

int main(void)
{
    char line[100];
    unsigned lines = 0;
    FILE *pipe = popen("echo one; echo two", "r"); // SEEDED
    CHECK(pipe != NULL, "popen");
    while (fgets(line, sizeof line, pipe) != NULL)
        lines++;
    check(!ferror(pipe), "popen");
    check(pclose(pipe) == 0, "popen");
    check(lines == 2, "popen");
    printf("%u lines\n", lines);
    return finish();
}
