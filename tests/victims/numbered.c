// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -pthread -fno-builtin
// Threads, then a child, call abs(0) to abs(999) again and again. With "other", the odd ones are
// called by another function. Usage: numbered THREADS ROUNDS [other]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int rounds, others;

__attribute__((noinline)) static int other(int i)
{
    volatile int result = abs(i);
    return result;
}

static void *call(void *argument)
{
    for (int i = 0; i < rounds * 1000; i++)
        if (others && i % 2 != 0)
            other(i % 1000);
        else if (abs(i % 1000) != i % 1000)
            continue;
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = argc > 2 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 1;
    others = argc > 3;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, call, NULL) != 0)
            return 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    if (fork() == 0) {
        call(NULL);
        exit(0);
    }
    wait(NULL);
    return 0;
}
