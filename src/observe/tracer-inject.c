// SPDX-License-Identifier: GPL-3.0-or-later
// System calls that a task makes for us where it has stopped at the beginning of one of its own.
#include "observe/tracer-internal.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#define CALL_SIZE 2 // bytes of the instruction

bool tracer_inject_begin(struct tracer_task *task, struct tracer_injection *ret_injection)
{
    *ret_injection = (struct tracer_injection){0};
    return tracer_get_registers(task, &ret_injection->saved);
}

// A signal between two calls would end the injection, and leave the program what the first one
// made.
static bool block_signals(const struct tracer_task *task, struct tracer_injection *injection)
{
    const uint64_t all = UINT64_MAX;
    void *size = (void *)sizeof all;
    injection->blocked = ptrace(PTRACE_GETSIGMASK, task->tid, size, &injection->mask) == 0 &&
                         ptrace(PTRACE_SETSIGMASK, task->tid, size, &all) == 0;
    return injection->blocked;
}

// True: the task has stopped at the end of a call.
static bool wait_for_end(struct tracer_task *task, struct tracer_injection *injection)
{
    for (;;) {
        struct __ptrace_syscall_info info;
        int status;
        if (!tracer_go_on(task, PTRACE_SYSCALL, &status))
            return false;
        bool seccomp = WIFSTOPPED(status) && TRACER_EVENT(status) == PTRACE_EVENT_SECCOMP;
        bool call = WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
        bool held = WIFSTOPPED(status) && TRACER_EVENT(status) == PTRACE_EVENT_STOP &&
                    WSTOPSIG(status) == SIGTRAP;
        if (!seccomp && !call && !held) {
            injection->left = true;
            tracer_keep(task->tracer, task->tid, status);
            return false;
        }
        if (call && ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof info, &info) > 0 &&
            info.op == PTRACE_SYSCALL_INFO_EXIT)
            return true;
    }
}

bool tracer_inject(struct tracer_task *task, struct tracer_injection *injection, int number,
                   const uint64_t *arguments, int64_t *ret_result)
{
    struct user_regs_struct registers = injection->saved;
    if (injection->left || (!injection->blocked && !block_signals(task, injection)))
        return false;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    registers.rax = registers.orig_rax = (unsigned long long)number;
    if (injection->made != 0) // the first one takes the place of the task's own
        registers.rip -= CALL_SIZE;
    if (!tracer_set_registers(task, &registers) || !wait_for_end(task, injection) ||
        !tracer_get_registers(task, &registers))
        return false;
    injection->made++;
    *ret_result = (int64_t)registers.rax;
    return true;
}

void tracer_inject_end(struct tracer_task *task, const struct tracer_injection *injection,
                       uint64_t place, struct tracer_order *order)
{
    struct user_regs_struct registers = injection->saved;
    registers.rip = place;
    registers.rax = registers.orig_rax;
    registers.orig_rax = (unsigned long long)-1;
    tracer_set_registers(task, &registers);
    if (injection->blocked)
        ptrace(PTRACE_SETSIGMASK, task->tid, (void *)sizeof injection->mask, &injection->mask);
    order->again = true;
    order->left = injection->left;
}
