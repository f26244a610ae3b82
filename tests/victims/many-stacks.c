// SPDX-License-Identifier: GPL-3.0-or-later
// Calls getppid() by 2^N different stacks.
#include <stdlib.h>
#include <unistd.h>

static volatile int calls;

__attribute__((noinline)) static void descend(int depth)
{
    if (depth == 0) {
        calls += getppid() > 0;
        return;
    }
    descend(depth - 1);
    calls++; // no tail call
    descend(depth - 1);
    calls++;
}

int main(int count, char **words)
{
    descend(count > 1 ? atoi(words[1]) : 17);
    return 0;
}
