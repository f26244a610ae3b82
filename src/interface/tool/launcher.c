// SPDX-License-Identifier: GPL-3.0-or-later
// Valgrind starts this for a program that the traced one starts, with the tool's options. It takes
// the place of Valgrind's own launcher, which would not need to be there.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    char own[4096], tool[4200];
    const char *directory = getenv("VALGRIND_LIB");
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size > 0 && directory != NULL) {
        own[size] = '\0';
        snprintf(tool, sizeof tool, "%s/ordeal_propagate-amd64-linux", directory);
        if (setenv("VALGRIND_LAUNCHER", own, 1) == 0)
            execv(tool, arguments);
    }
    perror("ordeal propagate: cannot start Valgrind's tool");
    return 127;
}
