// SPDX-License-Identifier: GPL-3.0-or-later
// Leaves the work to a child, waits, and is content.
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int status = 0;
    pid_t child = fork(); // SEEDED
    CHECK(child >= 0, "fork");
    if (child == 0) {
        FILE *file = fopen("work", "w");
        check(file != NULL && fputs("done\n", file) >= 0 && fclose(file) == 0, "work");
        _exit(0);
    }
    pid_t ended = waitpid(child, &status, 0); // SEEDED
    CHECK(ended == child, "child");
    (void)ended;
    check(status == 0, "child");
    puts("finished");
    return finish();
}
