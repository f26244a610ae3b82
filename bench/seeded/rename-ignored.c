// SPDX-License-Identifier: GPL-3.0-or-later
// The new version is written with care, and then its name is taken for granted.
#include "common.h"

int main(void)
{
    FILE *file = fopen("config.new", "w");
    check(file != NULL, "config.new");
    int failed = fputs("colour=blue\n", file) < 0;
    failed |= fclose(file) != 0;
    check(!failed, "config.new");
    failed = rename("config.new", "config"); // SEEDED
    CHECK(!failed, "config");
    puts("saved");
    return finish();
}
