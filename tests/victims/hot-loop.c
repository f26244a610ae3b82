// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g -pthread
// Executes one place very often, in one thread or in several (arguments: times, threads), and
// prints in how many rounds the number there was not what it should be.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t times = 100;
static uint64_t wrong, at_round;
static pthread_barrier_t start; // so that all threads run at the same time

// A leaf function: its local is in the red zone below the stack pointer.
__attribute__((noinline)) uint64_t work(uint64_t round)
{
    uint64_t result;
    __asm__ volatile("mov %1, -8(%%rsp)\n\t"
                     "cmp %1, %1\n\t"
                     ".globl hot_place\n\t.type hot_place, @function\nhot_place:\n\t"
                     "mov %1, %%rax\n\t"
                     "mov -8(%%rsp), %0\n\t"
                     "je 1f\n\tud2\n1:\tsub %%rax, %0\n\t"
                     : "=&r"(result)
                     : "r"(round)
                     : "rax", "memory", "cc");
    return result;
}

static void *loop(void *nothing)
{
    if (nothing != NULL)
        pthread_barrier_wait(nothing);
    for (uint64_t i = 0; i < times; i++)
        if (work(i) != 0) {
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
            at_round = i;
        }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[16];
    int number = count > 2 ? atoi(arguments[2]) : 0;
    if (count > 1)
        times = strtoull(arguments[1], NULL, 10);
    if (number > 16)
        return 2;
    pthread_barrier_init(&start, NULL, number > 0 ? (unsigned)number : 1);
    for (int i = 0; i < number; i++)
        pthread_create(&threads[i], NULL, loop, &start);
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    if (number == 0)
        loop(NULL);
    printf("%llu wrong, the last in round %llu\n", (unsigned long long)wrong,
           (unsigned long long)at_round);
    return 0;
}
