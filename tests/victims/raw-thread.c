// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -fno-builtin -O1
// Calls abs() 200000 times in a thread that is made by syscall(SYS_clone), and 200000 times
// besides.
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 200000
static _Alignas(64) char stack[1 << 16];
static volatile int sum, done;

static void call_all(void)
{
    for (int i = 0; i < CALLS; i++)
        sum = abs(i);
}

// Comes from nowhere, with the thread-local memory of the other thread.
static void in_thread(void)
{
    call_all();
    done = 1;
    for (;;)
        __asm__ volatile("syscall" ::"a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
}

int main(void)
{
    // syscall() returns to what stands on top of the new stack.
    void **top = (void **)(stack + sizeof stack - 64);
    *top = (void *)in_thread;
    long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    if (syscall(SYS_clone, flags, top, NULL, NULL, 0l) < 0)
        return 2;
    call_all();
    while (!done)
        ;
    return 0;
}
