// SPDX-License-Identifier: GPL-3.0-or-later
// Trials in forked children. The handshake: the workload says that a rule fires and waits until the
// controller has read its output so far. It forks, waits for the child, says how the child ended,
// and waits until the controller has looked at it. Only one of the two ever runs, so both use the
// region as it is.
#include "runtime/fork.h"

#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/wait.h>

#include <signal.h>

bool fork_mode;

static struct {
    bool child;
    uint32_t rule;  // of the child
    uint8_t *fired; // by rule, in the workload
    bool filtered;
    uint32_t refusal; // once set, there are no more forks
} state;

// The kernel's struct rusage, with names for the fields of interest.
struct usage {
    int64_t user_s, user_us, system_s, system_us, peak_kib, others[13];
};

void fork_prepare(void)
{
    if ((runtime.region->options & WIRE_FORKS) == 0)
        return;
    state.fired = arena_new(runtime.plan->rules.count + 1);
    if (state.fired == NULL) {
        journal_note(WIRE_NOTE_MEMORY, "rules that fired");
        state.refusal = WIRE_FORK_FAILED;
    }
    if (system_peek_by_copy) // valgrind knows neither the filter nor the fork
        state.refusal = WIRE_FORK_FILTER;
    fork_note_streams();
    fork_mode = true;
}

bool fork_wants(uint32_t rule)
{
    if (state.child)
        return rule == state.rule;
    return state.refusal == WIRE_FORK_OK && state.fired[rule] == 0;
}

// Tells the controller and waits for its answer.
static uint32_t tell(enum wire_fork_state news)
{
    struct wire_fork *fork = &runtime.region->fork;
    const uint32_t long_ms = 1000;
    uint32_t answer;
    fork->changed_ns = clock_now();
    atomic_store(&fork->state, (uint32_t)news);
    atomic_add(&fork->events, 1);
    system_wake(&fork->events);
    while ((answer = atomic_load(&fork->state)) == (uint32_t)news)
        system_wait(&fork->state, news, long_ms);
    return answer;
}

static void refuse(enum wire_fork_refusal why)
{
    state.refusal = why;
    atomic_store(&runtime.region->fork.refusal, (uint32_t)why);
}

// Checked once, where the first rule fires.
static bool is_safe(void)
{
    if (state.filtered)
        return true;
    enum wire_fork_refusal refusal = fork_safety();
    if (refusal != WIRE_FORK_OK)
        refuse(refusal);
    return refusal == WIRE_FORK_OK;
}

// Not before the controller has agreed: the filter forbids much, and for good.
static enum wire_fork_refusal make_ready(void)
{
    if (!state.filtered && !fork_filter()) {
        refuse(WIRE_FORK_FILTER);
        return WIRE_FORK_FILTER;
    }
    state.filtered = true;
    return fork_open_files();
}

// The child goes on as its parent: same number, same lineages. It dies with the parent.
static void become_child(uint32_t rule, const struct process *parent, uint32_t parent_pid)
{
    const int all_done = 0;
    state.child = true;
    state.rule = rule;
    runtime.process->number = parent->number;
    runtime.process->recorded = parent->recorded;
    runtime.process->shared = parent->shared;
    runtime.process->pid = system_pid();
    runtime.process->key = parent->key;
    thread_self()->tid = system_tid();
    fork_system(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    if (!fork_take_files() || SYSTEM_1(__NR_getppid, 0) != (long)parent_pid) {
        atomic_store(&runtime.region->fork.refusal, (uint32_t)WIRE_FORK_FAILED);
        SYSTEM_1(__NR_exit_group, all_done);
    }
}

static void wait_for_child(long child)
{
    struct wire_fork *fork = &runtime.region->fork;
    struct usage usage;
    int status = 0;
    memset(&usage, 0, sizeof usage);
    const long interrupted = -4;
    while (SYSTEM_4(__NR_wait4, child, &status, __WALL, &usage) == interrupted)
        ;
    fork->status = status;
    fork->cpu_ns = (uint64_t)(usage.user_s + usage.system_s) * 1000000000u +
                   (uint64_t)(usage.user_us + usage.system_us) * 1000u;
    fork->peak_memory = (uint64_t)usage.peak_kib * 1024u;
}

// The child ends without a signal to its parent, so that neither handlers nor wait() of the
// workload see it.
static bool branch(uint32_t rule)
{
    struct wire_fork *fork = &runtime.region->fork;
    struct process parent = *runtime.process;
    uint32_t pid = system_pid();
    fork->rule = rule;
    fork->status = 0;
    fork->refusal = WIRE_FORK_OK;
    if (tell(WIRE_FORK_ASKED) != WIRE_FORK_GRANTED) { // the workload has other processes
        refuse(WIRE_FORK_PROCESSES);
        return false;
    }
    fork->refusal = make_ready();
    if (fork->refusal == WIRE_FORK_OK) {
        long child = fork_system(__NR_clone, 0, 0, 0, 0);
        if (child == 0) {
            become_child(rule, &parent, pid);
            return true;
        }
        fork_close_files();
        if (system_failed(child))
            fork->refusal = WIRE_FORK_FAILED;
        else
            wait_for_child(child);
    }
    tell(WIRE_FORK_ENDED);
    fork->resumed_ns = clock_now();
    return false;
}

static bool fork_at(uint32_t rule)
{
    const uint64_t all = ~0ull;
    const int block = 0, set = 2;
    uint64_t before = 0;
    SYSTEM_4(__NR_rt_sigprocmask, block, &all, &before, 8);
    bool hit = is_safe() && branch(rule);
    SYSTEM_4(__NR_rt_sigprocmask, set, &before, 0, 8);
    return hit;
}

bool fork_here(uint32_t rule)
{
    if (state.child)
        return true;
    state.fired[rule] = 1;
    return fork_at(rule);
}

bool fork_stops(void)
{
    return !state.child && state.refusal == WIRE_FORK_OK;
}

bool fork_stop(uint32_t stop)
{
    return fork_stops() && fork_at(runtime.plan->rules.count + stop);
}
