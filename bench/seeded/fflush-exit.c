// SPDX-License-Identifier: GPL-3.0-or-later
// A child leaves its result in a file and ends without the C library's way out.
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        FILE *file = fopen("result", "w");
        check(file != NULL, "result");
        check(fputs("forty-two\n", file) >= 0, "result");
        int failed = fflush(file); // SEEDED
        CHECK(failed == 0, "result");
        (void)failed;
        _exit(0);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child, "child");
    check(status == 0, "child");
    return finish();
}
