// SPDX-License-Identifier: GPL-3.0-or-later
// Makes one system call after the other. After each r13 is read, r12 is overwritten, and r15 is
// left alone. Arguments: how many calls; "signals", if a handler of SIGALRM is to come in between.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile sig_atomic_t seen;

static void handle(int number)
{
    (void)number;
    seen++;
}

__attribute__((noinline)) static long work(long count)
{
    long sum;
    __asm__ volatile("xor %%r14d, %%r14d\n\tmov $1, %%r13d\n\txor %%r15d, %%r15d\n\t"
                     "1:\n\tmov $39, %%eax\n\tsyscall\n\t"
                     "add %%r13, %%r14\n\tmov %1, %%r12\n\tdec %1\n\tjnz 1b\n\tmov %%r14, %0\n\t"
                     : "=&a"(sum), "+b"(count)
                     :
                     : "rcx", "r11", "r12", "r13", "r14", "r15", "cc", "memory");
    return sum;
}

int main(int count, char **words)
{
    struct itimerval often = {{0, 300}, {0, 300}};
    signal(SIGALRM, handle);
    if (count > 2)
        setitimer(ITIMER_REAL, &often, NULL);
    printf("%ld\n", work(count > 1 ? atol(words[1]) : 1000000));
    return count > 2 && seen == 0;
}
