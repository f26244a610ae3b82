// SPDX-License-Identifier: GPL-3.0-or-later
// Makes one system call many times: observe-calls visible|invisible|clock|number COUNT.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    long calls = atol(words[2]);
    int file = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (long i = 0; i < calls; i++) {
        struct timespec now;
        switch (words[1][0]) {
        case 'v':
            if (pwrite(file, "x", 1, 0) != 1)
                return 1;
            break;
        case 'i':
            lseek(file, 0, SEEK_SET);
            break;
        case 'c':
            clock_gettime(CLOCK_MONOTONIC, &now);
            break;
        default:
            getpid();
        }
    }
    return 0;
}
