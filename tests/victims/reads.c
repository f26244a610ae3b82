// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: reads N [hang]. Reads N bytes one by one. What a failing read leads to depends on which it
// is: in turn an error message, a null pointer, a missing line, another try; the last but one of
// all hangs if asked to.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void follow(volatile char *pointer)
{
    *pointer = 1;
}

int main(int count, char **arguments)
{
    int times = count > 1 ? atoi(arguments[1]) : 4;
    int zeros = 0;
    int pipes[2];
    char byte;
    if (pipe(pipes) < 0)
        return 3;
    for (int i = 0; i < times; i++) {
        if (write(pipes[1], "x", 1) != 1)
            return 3;
        if (read(pipes[0], &byte, 1) == 1) {
            printf("read %d\n", i);
            continue;
        }
        if (i == times - 2 && count > 2)
            pause();
        switch (i % 4) {
        case 0:
            fprintf(stderr, "reads: cannot read\n");
            return 1;
        case 1:
            follow(NULL);
            break;
        case 2:
            break; // as if nothing had happened
        case 3:
            zeros += read(pipes[0], &byte, 1) != 1;
            printf("read %d\n", i);
            break;
        }
    }
    return zeros;
}
