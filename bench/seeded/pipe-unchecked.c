// SPDX-License-Identifier: GPL-3.0-or-later
// Counts what a child sends through a pipe that it believes it has.
#include "common.h"

#include <unistd.h>

int main(void)
{
    int ends[2] = {0, 0};
    char letter;
    unsigned count = 0;
    int failed = pipe(ends); // SEEDED
    CHECK(failed == 0, "pipe");
    (void)failed;
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0)
        _exit(write(ends[1], "tell me", 7) == 7 ? 0 : 1); // SEEDED
    close(ends[1]);
    ssize_t got;
    while ((got = read(ends[0], &letter, 1)) > 0) // SEEDED
        count++;
    CHECK(got == 0 && count == 7, "pipe");
    printf("%u letters\n", count);
    return finish();
}
