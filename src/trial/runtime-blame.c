// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the runtime may have caused a death: by a system call that a target's own filter kills
// for (a target that asks the C library for its filter is known, and the region tells which call
// the runtime was in), or because the target has unmapped the runtime.
#include "trial/runtime-blame.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

static const struct {
    uint32_t number;
    const char *name;
} calls[] = {
    {SYS_getpid, "getpid"},
    {SYS_gettid, "gettid"},
    {SYS_rt_sigprocmask, "rt_sigprocmask"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_mprotect, "mprotect"},
    {SYS_open, "open"},
    {SYS_close, "close"},
    {SYS_read, "read"},
    {SYS_fstat, "fstat"},
    {SYS_statx, "statx"},
    {SYS_readlink, "readlink"},
    {SYS_kill, "kill"},
    {SYS_geteuid, "geteuid"},
    {SYS_clock_gettime, "clock_gettime"},
    {SYS_shutdown, "shutdown"},
    {SYS_membarrier, "membarrier"},
    {SYS_stat, "stat"},
    {SYS_access, "access"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_personality, "personality"},
};

static const char *call_name(uint64_t number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return calls[i].name;
    return NULL;
}

static struct error *blame_call(const struct wire_view *view, uint32_t at, char **ret_text)
{
    char number[32];
    uint64_t call = view->programs->processes[at].own_call - 1;
    const char *name = call_name(call);
    snprintf(number, sizeof number, "number %llu", (unsigned long long)call);
    if (asprintf(
            ret_text,
            "process %u was killed in a system call of Ordeal's own (%s), which the filter of "
            "system calls that it has installed forbids; not its own code but Ordeal's runtime "
            "caused that",
            (unsigned)(view->region->process_numbers[at] >> 32), name != NULL ? name : number) < 0)
        return error_no_memory();
    return NULL;
}

// A filter that the C library was not asked for.
static bool is_unseen_filter(const struct wire_view *view)
{
    const struct wire_region *region = view->region;
    if (region->filters != 0)
        return false;
    if (region->outcome == WIRE_OUTCOME_SIGNAL && region->outcome_status == SIGSYS)
        return true;
    for (uint32_t i = 0; i < view->record_count; i++)
        if (view->journal[i].state == WIRE_RECORD_COMPLETE &&
            view->journal[i].kind == WIRE_RECORD_CRASH && view->journal[i].error == SIGSYS)
            return true;
    return false;
}

// The command died of a signal whose handler is the runtime's, and left no record.
static bool is_unrecorded_crash(const struct wire_view *view)
{
    const struct wire_region *region = view->region;
    if (region->outcome != WIRE_OUTCOME_SIGNAL || region->processes == 0 ||
        (region->options & WIRE_CATCH_CRASHES) == 0 || region->filters != 0 ||
        (region->outcome_status != SIGSEGV && region->outcome_status != SIGBUS))
        return false;
    for (uint32_t i = 0; i < view->record_count; i++)
        if (view->journal[i].kind == WIRE_RECORD_CRASH)
            return false;
    return true;
}

struct error *runtime_blame(const struct wire_view *view, char **ret_text)
{
    *ret_text = NULL;
    if (view->damage != WIRE_DAMAGE_NONE)
        return NULL;
    for (uint32_t i = 0; i < WIRE_PROCESSES; i++)
        if (view->programs->processes[i].own_call != 0)
            return blame_call(view, i, ret_text);
    if (is_unseen_filter(view) &&
        asprintf(ret_text, "a process was killed by SIGSYS: it has a filter of system calls that "
                           "Ordeal did not see being installed, and the likely cause is a system "
                           "call of Ordeal's runtime, such as getpid or rt_sigprocmask") < 0)
        return error_no_memory();
    if (*ret_text == NULL && is_unrecorded_crash(view) &&
        asprintf(ret_text,
                 "the command was killed by %s, and Ordeal's runtime could not record where: a "
                 "thread has used up its stack; or the signal was blocked, or its handler taken "
                 "away; or the command has unmapped memory that it does not know, and the runtime "
                 "with it, by system calls of its own: then not its own code caused the crash",
                 view->region->outcome_status == SIGBUS ? "SIGBUS" : "SIGSEGV") < 0)
        return error_no_memory();
    return NULL;
}
