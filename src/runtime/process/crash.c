// SPDX-License-Identifier: GPL-3.0-or-later
// Records of crashes. A process that dies of a signal it does not handle writes a record first;
// then the signal kills it as it would have: same wait status, same siginfo and registers in a core
// file. The target does not notice: the C library tells it that the action is the default, and
// setting the default sets this handler again. (A target that asks the kernel itself sees the
// handler; a handler with SA_RESETHAND, once run, leaves the kernel's own default behind, which
// records nothing.) Who ignores a fault dies of it all the same, as one whose handler gives up and
// returns to the instruction.
#include "runtime/signals.h"

#include "runtime/function.h"
#include "runtime/hooks.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

static const unsigned char fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

#define RESTORER 0x04000000
#define FLAGS    (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)

// For signals of the main thread when its stack has overflowed. Touched only then.
static char alternate_stack[65536] __attribute__((aligned(16)));

__asm__(".pushsection .text, \"ax\"\n"
        ".type crash_return, @function\n"
        "crash_return:\n"
        "mov $15, %eax\n"
        "syscall\n"
        ".size crash_return, . - crash_return\n"
        ".popsection");
_Static_assert(__NR_rt_sigreturn == 15, "crash_return makes another system call");
void crash_return(void) __attribute__((visibility("hidden")));

static void on_crash(int number, siginfo_t *info, void *context);

// Faults that the target ignores: bit N - 1 for signal N. They are handled here, and those that
// somebody sends are ignored.
static uint64_t ignored_faults;

static bool is_fatal(int number)
{
    for (size_t i = 0; i < sizeof fatal; i++)
        if (fatal[i] == number)
            return true;
    return false;
}

static uint64_t in_fatal_mask(int number)
{
    return 1ull << (number - 1);
}

static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

static bool is_ignored(int number)
{
    return (atomic_load(&ignored_faults) & in_fatal_mask(number)) != 0;
}

static void note_ignored(int number, bool is)
{
    if (is)
        __atomic_fetch_or(&ignored_faults, in_fatal_mask(number), __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&ignored_faults, ~in_fatal_mask(number), __ATOMIC_RELAXED);
}

static void set_action(int number, void *handler, struct kernel_action *ret_old)
{
    // Blocks every signal except a fault in the handler itself.
    struct kernel_action action = {
        .handler = handler, .flags = FLAGS | RESTORER, .restorer = crash_return, .mask = ~0ull};
    for (size_t i = 0; i < sizeof fatal; i++)
        action.mask &= ~(1ull << (fatal[i] - 1));
    if (handler == (void *)SIG_DFL)
        action = (struct kernel_action){0};
    SYSTEM_4(__NR_rt_sigaction, number, &action, ret_old, 8);
}

// The process dies of the signal, now or when the handler returns.
static void die_of(int number, const siginfo_t *info)
{
    set_action(number, (void *)SIG_DFL, NULL);
    // Valgrind takes a signal that comes with the data of a fault for a fault of its own.
    if (runtime.valgrind ||
        system_failed(SYSTEM_4(__NR_rt_tgsigqueueinfo, system_pid(), system_tid(), number, info)))
        SYSTEM_3(__NR_tgkill, system_pid(), system_tid(), number);
}

// Another thread is writing this process's record, or this thread crashed while it was.
static void crash_again(int number, const siginfo_t *info)
{
    struct process *process = runtime.process;
    const int unblock = 1;
    if (process->crash_tid != system_tid()) {
        const uint32_t patience_ms = 5000;
        if (atomic_load(&process->crash_done) == 0)
            system_wait(&process->crash_done, 0, patience_ms);
        die_of(number, info);
        return;
    }
    // The signal that the process was dying of in the first place.
    uint64_t set = in_fatal_mask((int)process->crash_signal);
    SYSTEM_4(__NR_rt_sigprocmask, unblock, &set, 0, 8);
    siginfo_t first;
    memset(&first, 0, sizeof first);
    first.si_signo = (int)process->crash_signal;
    first.si_code = SI_TKILL;
    die_of(first.si_signo, &first);
    die_of(number, info);
}

// Whether the signal comes from an instruction that compilers emit to end a program (ud2), or that
// a library uses for it (int3). After an int3 the program counter is behind it.
static bool is_stop(int number, const ucontext_t *context)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    unsigned char code[2];
    if (number == SIGTRAP)
        return system_peek((const void *)(pc - 1), code, 1) && code[0] == 0xcc;
    return number == SIGILL && system_peek((const void *)pc, code, 2) && code[0] == 0x0f &&
           code[1] == 0x0b;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (cover_trap(number, info, context) || guarded_recover(number, info, context) ||
        (info->si_code <= 0 && is_ignored(number)))
        return;
    struct process *process = runtime.process;
    uint32_t pid = process_pid(), before = atomic_load(&process->crash_pid);
    // A child of vfork() shares this memory but is a process of its own.
    if (before == pid || !atomic_swap_if(&process->crash_pid, before, pid)) {
        crash_again(number, info);
        return;
    }
    process->crash_signal = (uint32_t)number;
    process->crash_done = 0;
    atomic_store(&process->crash_tid, thread_tid());
    if (runtime.armed)
        functions_publish();
    struct crash crash = {.signal = number, .context = context};
    if (info->si_code <= 0) {
        crash.flags = WIRE_CRASH_SENT;
        crash.sender = info->si_code == SI_USER || info->si_code == SI_TKILL ? info->si_pid : 0;
    } else if (number != SIGTRAP && number != SIGSYS && info->si_code != SI_KERNEL) {
        // Where there is no such address, the kernel says 0.
        crash.flags = WIRE_CRASH_FAULT;
        crash.address = (uint64_t)info->si_addr;
    }
    if (info->si_code > 0 && is_stop(number, context))
        crash.flags |= WIRE_CRASH_STOP;
    journal_crash(&crash);
    die_of(number, info);
    atomic_store(&process->crash_done, 1);
    system_wake(&process->crash_done);
}

void crash_prepare(void)
{
    for (size_t i = 0; i < sizeof fatal; i++) {
        struct kernel_action old = {0};
        set_action(fatal[i], (void *)on_crash, &old);
        if (old.handler == (void *)SIG_DFL)
            continue;
        // Ignored (which is inherited), or a library's handler.
        const struct sigaction ignored = {.sa_handler = SIG_IGN};
        if (fatal[i] == SIGTRAP && cover_is_on())
            cover_keep_action(&ignored, NULL);
        else
            SYSTEM_4(__NR_rt_sigaction, fatal[i], &old, 0, 8);
        guarded_wrap(fatal[i]);
    }
    uint64_t held = 0;
    if (runtime.plan->variable_count != 0)
        SYSTEM_4(__NR_rt_sigprocmask, 0, 0, &held, 8);
    guarded_note_mask(&held);
    stack_t stack = {.ss_flags = SS_DISABLE};
    SYSTEM_2(__NR_sigaltstack, 0, &stack);
    if ((stack.ss_flags & SS_DISABLE) == 0)
        return;
    stack = (stack_t){.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    SYSTEM_2(__NR_sigaltstack, &stack, 0);
}

// The functions that the target sets and asks actions with.

typedef void handler(int);
typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef handler *signal_function(int, handler *);

static bool is_default(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL;
}

static int change_action(sigaction_function *real, int number, const struct sigaction *action,
                         struct sigaction *ret_old)
{
    struct sigaction changed;
    guarded_note_action(action);
    if (number == SIGTRAP && cover_is_on()) {
        cover_keep_action(action, ret_old);
        return 0;
    }
    if (action != NULL && cover_is_on()) { // its handler may meet a breakpoint
        changed = *action;
        *(uint64_t *)&changed.sa_mask &= ~in_fatal_mask(SIGTRAP);
        action = &changed;
    }
    if (!is_fatal(number))
        return real(number, action, ret_old);
    bool ignores = action != NULL && action->sa_handler == SIG_IGN && is_fault(number),
         ignored_before = is_ignored(number), changes = action != NULL;
    if (action != NULL && (is_default(action) || ignores)) {
        memset(&changed, 0, sizeof changed);
        memset(&changed.sa_mask, 0xff, 8);
        for (size_t i = 0; i < sizeof fatal; i++)
            *(uint64_t *)&changed.sa_mask &= ~in_fatal_mask(fatal[i]);
        changed.sa_sigaction = on_crash;
        changed.sa_flags = FLAGS;
        action = &changed;
    }
    struct sigaction old;
    int result = real(number, action, &old);
    if (result != 0)
        return result;
    const struct kernel_action *own = guarded_wrapped(number, (void *)old.sa_sigaction);
    if (own != NULL) {
        old.sa_handler = (handler *)own->handler;
        old.sa_flags = (int)own->flags;
    } else if (old.sa_sigaction == on_crash) {
        memset(&old, 0, sizeof old);
        old.sa_handler = ignored_before ? SIG_IGN : SIG_DFL;
    }
    if (changes)
        note_ignored(number, ignores);
    if (ret_old != NULL)
        *ret_old = old;
    if (action != NULL)
        guarded_wrap(number);
    return result;
}

static handler *change_handler(signal_function *real, int number, handler *wanted)
{
    if (number == SIGTRAP && cover_is_on()) {
        struct sigaction action = {.sa_handler = wanted}, old;
        cover_keep_action(&action, &old);
        return old.sa_handler;
    }
    handler *before = real(number, wanted);
    if (!is_fatal(number) || before == SIG_ERR)
        return before;
    const struct kernel_action *own = guarded_wrapped(number, (void *)before);
    if (own != NULL)
        before = (handler *)own->handler;
    bool ignores = wanted == SIG_IGN && is_fault(number), ignored_before = is_ignored(number);
    if (wanted == SIG_DFL || ignores)
        set_action(number, (void *)on_crash, NULL);
    note_ignored(number, ignores);
    guarded_wrap(number);
    if (before == (handler *)(void *)on_crash)
        return ignored_before ? SIG_IGN : SIG_DFL;
    return before;
}

#define SIGACTION_HOOK(name)                                                                       \
    static void *real_##name;                                                                      \
    static int hook_##name(int number, const struct sigaction *action, struct sigaction *ret_old)  \
    {                                                                                              \
        return change_action((sigaction_function *)hook_real(&real_##name, #name), number, action, \
                             ret_old);                                                             \
    }
#define SIGNAL_HOOK(name)                                                                          \
    static void *real_##name;                                                                      \
    static handler *hook_##name(int number, handler *wanted)                                       \
    {                                                                                              \
        return change_handler((signal_function *)hook_real(&real_##name, #name), number, wanted);  \
    }
SIGACTION_HOOK(sigaction)
SIGACTION_HOOK(__sigaction)
SIGNAL_HOOK(signal)
SIGNAL_HOOK(ssignal)
SIGNAL_HOOK(bsd_signal)
SIGNAL_HOOK(sysv_signal)
SIGNAL_HOOK(__sysv_signal)

#define HOOK_ROW(name)                                                                             \
    {                                                                                              \
#name, (void *)hook_##name, &real_##name                                                   \
    }
const struct hook crash_hooks[CRASH_HOOKS] = {
    HOOK_ROW(sigaction),  HOOK_ROW(__sigaction), HOOK_ROW(signal),        HOOK_ROW(ssignal),
    HOOK_ROW(bsd_signal), HOOK_ROW(sysv_signal), HOOK_ROW(__sysv_signal),
};
