// SPDX-License-Identifier: GPL-3.0-or-later
// Points a link at the newest version.
#include "common.h"

#include <unistd.h>

int main(void)
{
    check(unlink("current") == 0 || errno == ENOENT, "current");
    int failed = symlink("input.txt", "current"); // SEEDED
    CHECK(!failed, "current");
    (void)failed;
    puts("switched");
    return finish();
}
