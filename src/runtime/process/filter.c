// SPDX-License-Identifier: GPL-3.0-or-later
// Targets that filter their own system calls. The filter does not know the calls that the runtime
// makes and may kill the process for one. So from then on the runtime makes none when a rule fires,
// except those that the rule asks for; what it would ask the kernel for is found out before. Where
// it still makes one, the region tells, so that the target is not blamed for it.
#include "runtime/hooks.h"

#include "runtime/credits.h"
#include "runtime/descriptors.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/slots.h"
#include "runtime/system.h"

#include <linux/prctl.h>
#include <linux/seccomp.h>

static void *real_prctl, *real_syscall, *real_vfork;

// Right before the filter comes into force, or is refused.
static void filter_comes(bool strict)
{
    if (!runtime.armed)
        return;
    process_lock();
    for (const struct module_set *set = runtime.modules; set != NULL; set = NULL)
        for (size_t i = 0; i < set->count; i++)
            module_index(set->modules[i]);
    slots_make_functions();
    arena_reserve();
    credits_stop();
    process_unlock();
    // In strict mode reading the time, too, is a fault.
    if (strict)
        runtime.stopped_clock = clock_now();
    __atomic_fetch_or(&runtime.region->filters, strict ? WIRE_FILTER_STRICT : WIRE_FILTER_PROGRAM,
                      __ATOMIC_RELAXED);
    const bool is_first = !runtime.filtered;
    runtime.filtered = true;
    // Without the hooks for crashes nothing would hide our handler.
    if (is_first && (runtime.region->options & WIRE_CATCH_CRASHES) != 0) {
        guarded_wrap(SIGSEGV);
        guarded_wrap(SIGBUS);
    }
    process_mark_calls();
}

// Calls that cannot succeed only ask what the kernel knows: no filter comes.
static void note_prctl(int option, uint64_t mode, uint64_t program)
{
    if (option == PR_SET_SECCOMP &&
        (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && program != 0)))
        filter_comes(mode == SECCOMP_MODE_STRICT);
}

static void note_seccomp(unsigned operation, unsigned flags, uint64_t program)
{
    if ((operation == SECCOMP_SET_MODE_STRICT && flags == 0 && program == 0) ||
        (operation == SECCOMP_SET_MODE_FILTER && program != 0))
        filter_comes(operation == SECCOMP_SET_MODE_STRICT);
}

static int hook_prctl(int option, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    note_prctl(option, a, b);
    return ((__typeof__(hook_prctl) *)hook_real(&real_prctl, "prctl"))(option, a, b, c, d);
}

// Not inlined: a variable whose address is taken would keep hook_syscall() from ending in a jump.
__attribute__((noinline)) static void note_clone3(const void *arguments)
{
    uint64_t flags = 0; // come first in them
    if (system_peek(arguments, &flags, sizeof flags))
        hook_note_clone(flags);
}

// Calls with other effects than the function of their name has through its hook.
static void note_call(long number, long a, long b, long c)
{
    switch (number) {
    case __NR_prctl:
        note_prctl((int)a, (uint64_t)b, (uint64_t)c);
        break;
    case __NR_seccomp:
        note_seccomp((unsigned)a, (unsigned)b, (uint64_t)c);
        break;
    case __NR_vfork:
        runtime.memory_is_shared = true;
        break;
    case __NR_clone:
        hook_note_clone((uint64_t)a);
        break;
    case __NR_clone3:
        note_clone3((const void *)a);
        break;
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_pkey_mprotect:
    case __NR_madvise:
    case __NR_mremap:
    case __NR_mmap:
    case __NR_brk:
    case __NR_shmat:
    case __NR_remap_file_pages:
        if (runtime.plan->variable_count != 0)
            heap_forget();
        break;
    default:
        break;
    }
}

// gcc makes a jump of such a call by itself.
#ifdef __clang__
#define MUST_JUMP __attribute__((musttail))
#else
#define MUST_JUMP
#endif

// Must end in a jump: the call may be a vfork.
static long hook_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    note_call(number, a, b, c);
    if (descriptors_are_known())
        descriptors_note_call(number);
    syscall_function *real = (syscall_function *)hook_real(&real_syscall, "syscall");
    if (heap_call_hits_own(number, a, b, c, d, e))
        return heap_call(number, a, b, c, d);
    if (number == __NR_execve && runtime.armed)
        return program_by_syscall(real, a, b, c);
    MUST_JUMP return real(number, a, b, c, d, e, f);
}

// Likewise. The child uses the memory of its parent, and has another number.
static int hook_vfork(void)
{
    runtime.memory_is_shared = true;
    return ((__typeof__(hook_vfork) *)hook_real(&real_vfork, "vfork"))();
}

const struct hook filter_hooks[FILTER_HOOKS] = {
    {"prctl", (void *)hook_prctl, &real_prctl},
    {"syscall", (void *)hook_syscall, &real_syscall},
    {"vfork", (void *)hook_vfork, &real_vfork},
};
