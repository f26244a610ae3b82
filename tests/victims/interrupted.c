// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g
// A place that is executed while signals arrive all the time, one inside their handler, and a
// system call. Prints what it got.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

static volatile uint64_t signals;
static volatile uint64_t seen_by_handler;

__attribute__((noinline)) uint64_t copy(uint64_t value)
{
    uint64_t result;
    __asm__ volatile(
        ".globl place\n\t.type place, @function\nplace:\n\tmov %1, %0\n\tnop\n\tnop\n\t"
        : "=r"(result)
        : "D"(value));
    return result;
}

static void handle(int number)
{
    uint64_t result;
    (void)number;
    __asm__ volatile(
        ".globl handler_place\n\t.type handler_place, @function\nhandler_place:\n\tmov %1, %0\n\t"
        : "=r"(result)
        : "D"(1ul));
    signals++;
    if (result != 1)
        seen_by_handler = result;
}

__attribute__((noinline)) static long put(const char *text, long size)
{
    long result;
    __asm__ volatile(".globl call_place\n\t.type call_place, @function\ncall_place:\n\tsyscall\n\t"
                     "nop\n\tnop\n\tnop\n\t" // room for a jump
                     : "=a"(result)
                     : "a"(1l), "D"(1l), "S"(text), "d"(size)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    const struct itimerval often = {{.tv_usec = 2000}, {.tv_usec = 2000}}, never = {{0}, {0}};
    uint64_t wrong = 0, last = 0;
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t i = 0; i < 200000 || signals < 20; i++)
        if (copy(i) != i) {
            wrong++;
            last = i;
        }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%llu wrong, the last in round %llu; the handler saw %llu\n", (unsigned long long)wrong,
           (unsigned long long)last, (unsigned long long)seen_by_handler);
    fflush(stdout);
    put("abcdefgh\n", 4);
    put("\nijklmnop\n", 4);
    return puts("") < 0;
}
