// SPDX-License-Identifier: GPL-3.0-or-later
// Notes how processes ended, as their parents learn it: a shell may ignore that a command failed.
#include "runtime/hooks.h"

#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

static void *real_wait, *real_waitpid, *real_wait3, *real_wait4;

#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))
#define NEIGHBOURS 16 // entries of a pid

static void note_end(int pid, const int *status)
{
    const int low = 0xff, stopped = 0x7f, continued = 0xffff;
    if (pid <= 0 || status == NULL || (*status & low) == stopped || *status == continued)
        return;
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        uint32_t index = ((uint32_t)pid + i) % WIRE_PROCESSES;
        if ((uint32_t)(atomic_load(&runtime.region->process_numbers[index]) >> 32) ==
            (uint32_t)pid) {
            atomic_store(&runtime.programs->ends[index], WIRE_ENDED | ((uint32_t)*status & 0xffff));
            return;
        }
    }
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
