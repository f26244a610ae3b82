// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g
// Executes one place twice, forks, and executes it three times in either process. Each prints how
// often the number there was not what it should be; the child first.
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

__attribute__((noinline)) static void work(uint64_t number)
{
    volatile uint64_t right = number;
    uint64_t result;
    __asm__ volatile(".globl hot_place\n\t.type hot_place, @function\nhot_place:\n\t"
                     "mov %1, %0\n\t"
                     "mov %0, %%rax\n\t"
                     : "=&r"(result)
                     : "D"(number)
                     : "rax");
    wrong += result != right;
}

int main(void)
{
    work(1);
    work(2);
    pid_t child = fork();
    if (child < 0)
        return 2;
    for (uint64_t i = 3; i <= 5; i++)
        work(i);
    if (child != 0)
        waitpid(child, NULL, 0);
    printf("%s %d wrong\n", child == 0 ? "child" : "parent", wrong);
    return 0;
}
