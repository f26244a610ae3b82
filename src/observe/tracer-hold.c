// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for single tasks while all others go on, or stand still. What other stops come meanwhile
// is kept for the engine.
#include "base/clock.h"
#include "base/timeouts.h"
#include "observe/tracer-internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// If memory is short, the task stays stopped, and dies with the tracer.
void tracer_keep(struct tracer *tracer, pid_t tid, int status)
{
    struct heard_status *kept = ARRAY_ADD(&tracer->unheard);
    if (kept != NULL)
        *kept = (struct heard_status){tid, status};
}

// Without the vDSO, which reads the time stamp counter.
static uint64_t now_ns(void)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return clock_of(&now);
}

// A thread that waits for its child of vfork() cannot be stopped now. It executes nothing either:
// the kernel stops it before it returns to the program.
static bool wait_shortly(pid_t tid, int *ret_status)
{
    uint64_t end_ns = now_ns() + TRACER_HOLD_WAIT_NS;
    do {
        pid_t got = waitpid(tid, ret_status, __WALL | WNOHANG);
        if (got == tid)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        const struct timespec pause = clock_timespec(TRACER_HOLD_PAUSE_NS);
        nanosleep(&pause, NULL);
    } while (now_ns() < end_ns);
    return false;
}

static bool is_running(const struct tracer *tracer, const struct task *task)
{
    for (size_t i = 0; i < tracer->unheard.count; i++)
        if (tracer->unheard.items[i].tid == task->shown.tid)
            return false;
    return task->state == TASK_RUNS || task->state == TASK_IN_CALL || task->state == TASK_NEW;
}

static void hold(struct tracer *tracer, struct task *task)
{
    int status;
    if (!is_running(tracer, task) || ptrace(PTRACE_INTERRUPT, task->shown.tid, NULL, NULL) < 0 ||
        !wait_shortly(task->shown.tid, &status))
        return;
    if (task->state != TASK_NEW && WIFSTOPPED(status) &&
        TRACER_EVENT(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
        task->held = true;
    else
        tracer_keep(tracer, task->shown.tid,
                    status); // stopped, too, until the engine hears of it
}

void tracer_hold(struct tracer_task *shown)
{
    struct tracer *tracer = shown->tracer;
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *task = tracer->tasks.items[i];
        if (&task->shown != shown && task->shown.pid == shown->pid)
            hold(tracer, task);
    }
}

bool tracer_hold_one(struct tracer_task *shown)
{
    struct tracer *tracer = shown->tracer;
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *task = tracer->tasks.items[i];
        if (&task->shown != shown)
            continue;
        hold(tracer, task);
        return task->held;
    }
    return false;
}

void tracer_release(struct tracer_task *shown)
{
    struct tracer *tracer = shown->tracer;
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *task = tracer->tasks.items[i];
        if (!task->held || task->shown.pid != shown->pid)
            continue;
        task->held = false;
        tracer_resume(task, 0);
    }
}

bool tracer_is_between(const struct tracer_task *shown, uint64_t from, uint64_t to)
{
    const struct tracer *tracer = shown->tracer;
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        const struct tracer_task *other = &tracer->tasks.items[i]->shown;
        struct user_regs_struct registers;
        if (other == shown || other->pid != shown->pid)
            continue;
        if (!tracer_get_registers(other, &registers) ||
            (registers.rip > from && registers.rip < to))
            return true;
    }
    return false;
}

bool tracer_go_on(struct tracer_task *task, int how, int *ret_status)
{
    pid_t got;
    if (ptrace(how, task->tid, NULL, NULL) < 0)
        return false;
    // For all: the end of a process's first thread is told when the others have been heard of.
    while ((got = waitpid(-1, ret_status, __WALL)) != task->tid && (got > 0 || errno == EINTR))
        if (got > 0)
            tracer_keep(task->tracer, got, *ret_status);
    return got > 0;
}

bool tracer_wait(struct tracer_task *task, int how, int *ret_signal)
{
    for (;;) {
        int status;
        if (!tracer_go_on(task, how, &status))
            return false;
        bool stopped = WIFSTOPPED(status);
        // An earlier tracer_hold() may have asked for this stop.
        if (stopped && TRACER_EVENT(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
            continue;
        if (stopped && TRACER_EVENT(status) == PTRACE_EVENT_SECCOMP)
            continue;
        if (stopped && TRACER_EVENT(status) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            *ret_signal = WSTOPSIG(status);
            return true;
        }
        tracer_keep(task->tracer, task->tid, status);
        return false;
    }
}
