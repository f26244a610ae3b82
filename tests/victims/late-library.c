// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g
// Calls `triple` of libtriple.so, which it loads with dlopen(): N times (argument), unloads it,
// loads it again and calls it N times more. Prints the rounds with a wrong result.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rounds;

static void call_often(int times)
{
    void *library = dlopen("./libtriple.so", RTLD_NOW);
    long (*triple)(long) = library != NULL ? (long (*)(long))dlsym(library, "triple") : NULL;
    if (triple == NULL)
        exit(2);
    for (int i = 0; i < times; i++) {
        long result = triple(rounds);
        if (result != 3l * rounds)
            printf("round %d: %ld\n", rounds, result);
        rounds++;
    }
    dlclose(library);
}

int main(int count, char **arguments)
{
    int times = count > 1 ? atoi(arguments[1]) : 1;
    call_often(times);
    call_often(times);
    fflush(stdout);
    return write(1, "end\n", 4) == 4 ? 0 : 1;
}
