// SPDX-License-Identifier: GPL-3.0-or-later
// Reads whose faults are caught. Between the question whether memory can be read and the read,
// another thread may unmap it, and a target that makes system calls itself unmaps it unseen. The
// target must not die of such a read, nor may its own handler see it.
#include "runtime/memory.h"

#include "runtime/runtime.h"
#include "runtime/system.h"

#include <ucontext.h>

// Each reads by one instruction, at its label; another label says where to go on if that faults.
__asm__(".pushsection .text.hot, \"ax\"\n"
        ".globl guarded_load_8, guarded_load_4, guarded_copy\n"
        ".type guarded_load_8, @function\n"
        "guarded_load_8: mov (%rdi), %rax\n"
        "ret\n"
        ".size guarded_load_8, . - guarded_load_8\n"
        ".type guarded_load_4, @function\n"
        "guarded_load_4: mov (%rdi), %eax\n"
        "ret\n"
        ".size guarded_load_4, . - guarded_load_4\n"
        "guarded_load_failed: movl $1, (%rsi)\n"
        "ret\n"
        ".type guarded_copy, @function\n"
        "guarded_copy: mov %rdx, %rcx\n"
        "guarded_copying: rep movsb\n"
        "mov $1, %eax\n"
        "ret\n"
        "guarded_copy_failed: xor %eax, %eax\n"
        "ret\n"
        ".size guarded_copy, . - guarded_copy\n"
        ".popsection");
extern const char guarded_load_failed[] __attribute__((visibility("hidden")));
extern const char guarded_copying[] __attribute__((visibility("hidden")));
extern const char guarded_copy_failed[] __attribute__((visibility("hidden")));

bool guarded_recover(int number, const siginfo_t *info, void *context)
{
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if ((number != SIGSEGV && number != SIGBUS) || info->si_code <= 0)
        return false;
    if (*pc == (greg_t)guarded_load_8 || *pc == (greg_t)guarded_load_4)
        *pc = (greg_t)guarded_load_failed;
    else if (*pc == (greg_t)guarded_copying)
        *pc = (greg_t)guarded_copy_failed;
    else
        return false;
    return true;
}

void guarded_note_mask(const void *set)
{
    const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    uint64_t mask;
    if (runtime.plan->variable_count != 0 && set != NULL && system_peek(set, &mask, 8) &&
        (mask & faults) != 0)
        system_peek_by_copy |= system_copies();
}

void guarded_note_action(const struct sigaction *action)
{
    struct sigaction known;
    if (runtime.plan->variable_count != 0 && action != NULL &&
        system_peek(action, &known, sizeof known) && known.sa_handler != SIG_DFL &&
        known.sa_handler != SIG_IGN)
        guarded_note_mask(&known.sa_mask);
}

// Handlers of the target's own.

static struct kernel_action segv_action, bus_action;

static struct kernel_action *own_action(int number)
{
    return number == SIGSEGV ? &segv_action : number == SIGBUS ? &bus_action : NULL;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (guarded_recover(number, info, context))
        return;
    const struct kernel_action *own = own_action(number);
    void (*handler)(int, siginfo_t *, void *) =
        (void (*)(int, siginfo_t *, void *))atomic_load(&own->handler);
    // Further faults could not be caught: the signal is blocked while the handler runs, or has lost
    // its handler for good.
    if (!system_peek_by_copy && !runtime.filtered &&
        (own->flags & (SA_NODEFER | SA_RESETHAND)) != SA_NODEFER)
        system_peek_by_copy |= system_copies();
    if ((own->flags & SA_RESETHAND) != 0) {
        const struct kernel_action none = {0};
        SYSTEM_4(__NR_rt_sigaction, number, &none, 0, 8);
    }
    handler(number, info, context);
}

// For a target that filters its system calls, too: there every read is one of these, and the kernel
// cannot be asked for a copy. A handler for one signal only is left alone then, since taking it
// away would be a system call.
void guarded_wrap(int number)
{
    struct kernel_action action = {0}, *own = own_action(number);
    if (own == NULL || (runtime.plan->variable_count == 0 && !runtime.filtered) ||
        system_failed(SYSTEM_4(__NR_rt_sigaction, number, 0, &action, 8)))
        return;
    if (action.handler == (void *)SIG_IGN && !runtime.filtered)
        system_peek_by_copy |= system_copies();
    if (runtime.filtered && (action.flags & SA_RESETHAND) != 0)
        return;
    if (action.handler == (void *)SIG_DFL || action.handler == (void *)SIG_IGN ||
        action.handler == (void *)on_fault)
        return;
    own->flags = action.flags;
    atomic_store(&own->handler, action.handler);
    action.handler = (void *)on_fault;
    action.flags = (action.flags | SA_SIGINFO) & ~(uint64_t)(uint32_t)SA_RESETHAND;
    SYSTEM_4(__NR_rt_sigaction, number, &action, 0, 8);
}

const struct kernel_action *guarded_wrapped(int number, const void *handler)
{
    return handler == (const void *)on_fault ? own_action(number) : NULL;
}
