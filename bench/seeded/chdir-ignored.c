// SPDX-License-Identifier: GPL-3.0-or-later
// Works in a directory, or wherever it is.
#include "common.h"

#include <unistd.h>

int main(void)
{
    int failed = chdir("dir"); // SEEDED
    CHECK(!failed, "dir");
    (void)failed;
    FILE *file = fopen("made", "w");
    check(file != NULL, "made");
    failed = fputs("here\n", file) < 0;
    failed |= fclose(file) != 0;
    check(!failed, "made");
    return finish();
}
