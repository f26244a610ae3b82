// SPDX-License-Identifier: GPL-3.0-or-later
// Notes how processes ended, as their parents learn it: a shell may ignore that a command failed.
#include "runtime/hooks.h"

#include "runtime/ancestry.h"
#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

static void *real_wait, *real_waitpid, *real_wait3, *real_wait4;

#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))

static void note_end(int pid, const int *status)
{
    const int low = 0xff, stopped = 0x7f, continued = 0xffff;
    if (pid <= 0 || status == NULL || (*status & low) == stopped || *status == continued)
        return;
    ancestry_forget((uint32_t)pid);
    uint32_t entry = process_entry((uint32_t)pid);
    if (entry < WIRE_PROCESSES)
        atomic_store(&runtime.programs->processes[entry].end,
                     WIRE_ENDED | ((uint32_t)*status & 0xffff));
}

static int hook_wait(int *status)
{
    int pid = REAL(wait)(status);
    note_end(pid, status);
    return pid;
}

static int hook_waitpid(int wanted, int *status, int options)
{
    int pid = REAL(waitpid)(wanted, status, options);
    note_end(pid, status);
    return pid;
}

static int hook_wait3(int *status, int options, void *usage)
{
    int pid = REAL(wait3)(status, options, usage);
    note_end(pid, status);
    return pid;
}

static int hook_wait4(int wanted, int *status, int options, void *usage)
{
    int pid = REAL(wait4)(wanted, status, options, usage);
    note_end(pid, status);
    return pid;
}

const struct hook wait_hooks[WAIT_HOOKS] = {
    {"wait", (void *)hook_wait, &real_wait},
    {"waitpid", (void *)hook_waitpid, &real_waitpid},
    {"wait3", (void *)hook_wait3, &real_wait3},
    {"wait4", (void *)hook_wait4, &real_wait4},
};
