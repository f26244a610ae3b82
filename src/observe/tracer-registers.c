// SPDX-License-Identifier: GPL-3.0-or-later
// Registers of stopped tasks: arguments and results of the call that they are in.
#include "observe/tracer-internal.h"

#include <sys/ptrace.h>

static unsigned long long *argument_of(struct user_regs_struct *registers, bool i386, unsigned n)
{
    unsigned long long *const native[] = {&registers->rdi, &registers->rsi, &registers->rdx,
                                          &registers->r10, &registers->r8,  &registers->r9};
    unsigned long long *const old[] = {&registers->rbx, &registers->rcx, &registers->rdx,
                                       &registers->rsi, &registers->rdi, &registers->rbp};
    return i386 ? old[n] : native[n];
}

bool tracer_get_registers(const struct tracer_task *task, struct user_regs_struct *ret_registers)
{
    return ptrace(PTRACE_GETREGS, task->tid, NULL, ret_registers) == 0;
}

bool tracer_set_registers(const struct tracer_task *task, const struct user_regs_struct *registers)
{
    return ptrace(PTRACE_SETREGS, task->tid, NULL, registers) == 0;
}

void tracer_set_argument(struct tracer_task *shown, unsigned argument, uint64_t value)
{
    struct task *task = (struct task *)shown; // its first member
    struct user_regs_struct registers;
    if (argument >= TRACER_ARGUMENTS || !tracer_get_registers(shown, &registers))
        return;
    unsigned long long *word = argument_of(&registers, task->call.i386, argument);
    if ((task->changed & 1u << argument) == 0)
        task->given[argument] = *word;
    task->changed |= 1u << argument;
    *word = value;
    tracer_set_registers(shown, &registers);
}

void tracer_give_back(struct task *task)
{
    struct user_regs_struct registers;
    if (task->changed == 0 || !tracer_get_registers(&task->shown, &registers))
        return;
    for (unsigned i = 0; i < TRACER_ARGUMENTS; i++)
        if ((task->changed & 1u << i) != 0)
            *argument_of(&registers, task->call.i386, i) = task->given[i];
    task->changed = 0;
    tracer_set_registers(&task->shown, &registers);
}

// Without a number the kernel makes no call, and the program gets what is in rax.
void tracer_set_result(struct task *task, int64_t result, bool skip)
{
    struct user_regs_struct registers;
    if (!tracer_get_registers(&task->shown, &registers))
        return;
    if (skip)
        registers.orig_rax = (unsigned long long)-1;
    registers.rax = (unsigned long long)result;
    tracer_set_registers(&task->shown, &registers);
}
