// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that wander up and down through functions whose frames look alike, so that stacks differ
// in single words only. Each call must fail if and only if `marked` is on the stack; prints how
// many calls there were, how many failed and how many were wrong. Usage: wander THREADS CALLS
// flags: -pthread
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEEPEST 40

static long calls;
static long failed, wrong;

struct walker {
    uint64_t random;
    long left;
    int marks, depth;
    long failed, wrong;
};

static void go_on(struct walker *walker);

// The number is told apart by var(); the work after the call keeps it from being a jump.
#define PLACE(name, value, mark)                                                                   \
    __attribute__((noinline)) void name(struct walker *walker)                                     \
    {                                                                                              \
        volatile int number = value;                                                               \
        walker->marks += mark;                                                                     \
        walker->depth++;                                                                           \
        go_on(walker);                                                                             \
        walker->depth--;                                                                           \
        walker->marks -= mark;                                                                     \
        number++;                                                                                  \
    }
PLACE(plain, 3, 0)
PLACE(other, 4, 0)
PLACE(marked, 5, 1)

static unsigned draw(struct walker *walker, unsigned count)
{
    walker->random = walker->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(walker->random >> 33) % count;
}

static void check(struct walker *walker)
{
    int fails = getppid() == -7;
    walker->failed += fails;
    walker->wrong += fails != (walker->marks > 0);
}

__attribute__((noinline)) static void go_on(struct walker *walker)
{
    static void (*const places[])(struct walker *) = {plain, other, plain, other, marked};
    while (walker->left > 0) {
        unsigned what = draw(walker, 8);
        walker->left--;
        if (what < 4 && walker->depth < DEEPEST / 2)
            places[draw(walker, 5)](walker);
        else if (what == 7 && walker->depth > 0)
            return;
        else
            check(walker);
    }
}

static void *run(void *number)
{
    struct walker walker = {.random = (uintptr_t)number, .left = calls};
    go_on(&walker);
    __atomic_fetch_add(&failed, walker.failed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&wrong, walker.wrong, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[256];
    int count = argc > 2 ? atoi(argv[1]) : 0;
    calls = argc > 2 ? atol(argv[2]) : 0;
    run((void *)1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)(i + 2)) != 0)
            return 2;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%s, %ld wrong\n", failed > 100 ? "many failed" : "few failed", wrong);
    return 0;
}
