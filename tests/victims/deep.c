// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -fno-optimize-sibling-calls
// Usage: deep DEPTH. Calls getppid() under DEPTH frames of its own, once by each of two ways, and
// says what it returned.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int calls;

__attribute__((noinline)) static int down(int depth)
{
    int result = depth > 1 ? down(depth - 1) : (int)getppid();
    calls++;
    return result;
}

__attribute__((noinline)) static int marked(int depth)
{
    volatile int number = depth + 5;
    int result = down(depth);
    calls += number;
    return result;
}

__attribute__((noinline)) static int plain(int depth)
{
    int result = down(depth);
    calls++;
    return result;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 100;
    printf("marked %s\n", marked(depth) == -7 ? "failed" : "passed");
    printf("plain %s\n", plain(depth) == -7 ? "failed" : "passed");
    return 0;
}
