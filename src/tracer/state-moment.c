// SPDX-License-Identifier: GPL-3.0-or-later
// Faults at a moment of processor time. A timer comes about when the moment does, and the clocks of
// the processes that execute the program say whether it has. The thread that runs then gets the
// fault; if it is inside a system call, when that returns.
#include "tracer/state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t state_used_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0
               ? clock_of(&used)
               : 0;
}

// Since it began to execute the program; of a process that is gone, nothing.
static uint64_t used_since(const struct state_process *process)
{
    uint64_t used_ns = state_used_ns(process->pid);
    return used_ns > process->begun_ns ? used_ns - process->begun_ns : 0;
}

void state_exits(void *data, struct tracer_task *task)
{
    struct state_trial *trial = data;
    const struct state_process *process = task->data;
    struct wire_state_result *result = &trial->file->result;
    if (process == NULL || !process->runs_program || result->injected != 0)
        return;
    uint64_t used_ns = used_since(process);
    if (used_ns > result->used_ns)
        result->used_ns = used_ns;
}

static bool is_running(const struct tracer_task *task)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", task->pid, task->tid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        return false;
    const char *end = strrchr(line, ')'); // of the name
    return end != NULL && strncmp(end, ") R", 3) == 0;
}

// A thread of the process that runs now, drawn by the moment, which is random if any is.
static struct tracer_task *find_running(const struct state_trial *trial,
                                        const struct state_process *process)
{
    struct tracer_task *found = NULL;
    uint64_t number = trial->file->fault.moment_ns / NS_PER_US, running = 0;
    for (size_t i = 0; i < trial->tasks.count; i++) {
        struct tracer_task *task = trial->tasks.items[i];
        if (task->pid == process->pid && is_running(task) && number % ++running == 0)
            found = task;
    }
    return found;
}

// The library that the place is in. Its first segment begins at its link-time address 0.
static void find_module(pid_t pid, struct wire_state_result *result)
{
    char path[64], line[4096], file[4096], current[4096] = "";
    uint64_t start, end, offset, base = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    _cleanup_fclose_ FILE *maps = fopen(path, "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end,
                   &offset, file) != 4 ||
            file[0] != '/')
            continue;
        if (offset == 0) {
            base = start;
            memcpy(current, file, sizeof current);
        }
        if (result->place < start || result->place >= end)
            continue;
        if (strcmp(file, current) == 0 && strlen(file) < sizeof result->module) {
            result->place -= base;
            memcpy(result->module, file, strlen(file) + 1);
        }
        return;
    }
}

// A system call that the kernel will make once more, after it has changed registers itself.
static bool is_interrupted(const struct user_regs_struct *registers)
{
    int64_t result = (int64_t)registers->rax;
    return (int64_t)registers->orig_rax >= 0 && result <= -512 && result >= -516;
}

// False: it has to be tried again.
static bool strike(struct state_trial *trial, struct tracer_task *task, uint64_t used_ns)
{
    struct state_process *process = task->data;
    struct wire_state_result *result = &trial->file->result;
    struct user_regs_struct registers;
    if (!tracer_hold_one(task))
        return false;
    bool ready = tracer_get_registers(task, &registers) && !is_interrupted(&registers);
    if (ready) {
        uint64_t place = registers.rip - process->bias;
        result->used_ns = used_ns;
        result->place_in_program = place < trial->file->end;
        result->place = result->place_in_program != 0 ? place : registers.rip;
        if (result->place_in_program == 0)
            find_module(task->pid, result);
        if (state_inject(trial, task, process) && !trial->file->fault.memory) {
            if (trial->file->fault.register_class == WIRE_STATE_PC)
                state_activate(trial);
            else
                result->activation = WIRE_STATE_UNKNOWN;
            state_follow(trial, task);
        }
    }
    tracer_release(task);
    return ready;
}

// Nanoseconds until the moment may come, at the earliest; 0: the fault was injected. What waits is
// looked at seldom.
static uint64_t look(struct state_trial *trial, struct state_process *process)
{
    uint64_t moment_ns = trial->file->fault.moment_ns;
    uint64_t used_ns = used_since(process);
    uint64_t pause_ns = used_ns == process->looked_ns ? TRACER_PAUSE_NS : TRACER_MOMENT_PAUSE_NS;
    process->looked_ns = used_ns;
    if (used_ns < moment_ns) {
        uint64_t left_ns = (moment_ns - used_ns) / (process->tasks != 0 ? process->tasks : 1);
        return left_ns > pause_ns ? left_ns : pause_ns;
    }
    struct tracer_task *task = find_running(trial, process);
    return task != NULL && strike(trial, task, used_ns) ? 0 : pause_ns;
}

uint64_t state_tick(void *data)
{
    struct state_trial *trial = data;
    uint64_t pause_ns = TRACER_MOMENT_LAST_NS;
    if (trial->file->has_fault == 0 || trial->file->fault.moment_ns == 0)
        return 0;
    for (size_t i = 0; i < trial->processes.count && !trial->injected; i++) {
        if (!trial->processes.items[i]->runs_program)
            continue;
        uint64_t next_ns = look(trial, trial->processes.items[i]);
        pause_ns = next_ns < pause_ns ? next_ns : pause_ns;
    }
    return trial->injected ? 0 : pause_ns;
}
