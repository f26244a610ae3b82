// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the steps of a sandbox run one after the other, with either backend: captures their output,
// watches their time, and handles forked copies of the command.
#include "sandbox/branch.h"
#include "sandbox/capture.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#define NEVER_NS UINT64_MAX

struct sandbox_run {
    struct sandbox *sandbox;
    const struct sandbox_step *steps;
    struct sandbox_result *results;
    struct capture *captures; // two for each step
    size_t count;
    struct pollfd *polled;
};

struct running_step {
    struct sandbox_run *run;
    const struct sandbox_step *step;
    struct sandbox_result *result;
    struct progress progress;
    pid_t pid;
    uint64_t start_ns;
    uint64_t tick_ns, deadline_ns; // after the start
    uint64_t pause_ns;
    struct branch branch;
    bool alone;        // the command is the only process; once it has branched, it starts no others
    uint64_t ran_ns;   // how long the command itself had run at its last branch
    uint64_t gone_ns;  // when the command was seen to have ended, after the start; 0: not yet
    bool told;         // lingering() was called
    uint64_t asked_ns; // when hopeless() was last called, after the start
    uint64_t ended_ns; // when the branch was killed, after the start
};

static struct error *read_captures(struct sandbox_run *run)
{
    for (size_t i = 0; i < 2 * run->count; i++)
        if (run->captures[i].descriptor >= 0)
            TRY(capture_read(&run->captures[i]));
    return NULL;
}

static struct error *start_step(struct running_step *running, struct capture *captures)
{
    struct sandbox *sandbox = running->run->sandbox;
    const struct sandbox_step *step = running->step;
    _cleanup_close_ int output = -1, errors = -1;
    if (!step->passed) {
        TRY(capture_open(&captures[0], &running->result->out, sandbox->capture_limit, &output));
        TRY(capture_open(&captures[1], &running->result->err, sandbox->capture_limit, &errors));
    }
    struct spawn spawn = {
        .command = step->command,
        .environment = step->environment,
        .inside = step->inside,
        .shared = step->shared,
        .input = step->input,
        .output = step->passed ? step->output : output,
        .errors = step->passed ? step->errors : errors,
        .terminal = step->terminal,
        .fixed_addresses = step->fixed_addresses,
        .limits = sandbox->limits,
        .announce = -1,
        .attached = sandbox->attached,
        .signals = sandbox->signals,
    };
    running->start_ns = clock_ns();
    return sandbox->backend->start(sandbox, &spawn, running->step->linger, &running->pid);
}

// When the time is over. The command's clock stands still while there is a copy of it, and the copy
// has the full time. Once the copy was killed for its time, its end must be reported within the
// same time: the report is in memory that the command can write.
static uint64_t limit_ns(const struct running_step *running)
{
    const struct branch *branch = &running->branch;
    if (!branch->active)
        return running->deadline_ns;
    uint64_t start_ns = branch->overdue ? running->ended_ns : branch->start_ns;
    return running->step->timeout_ns == 0 ? NEVER_NS : start_ns + running->step->timeout_ns;
}

// Waits for news of a branch. That cannot be combined with waiting for output and the command's
// end, so the wait is short and these are checked often.
static void wait_branch(struct running_step *running, uint64_t left_ns)
{
    const struct sandbox_step *step = running->step;
    step->branching->wait(step->data, left_ns < running->pause_ns ? left_ns : running->pause_ns);
    if (running->pause_ns < BRANCH_LAST_PAUSE_NS)
        running->pause_ns *= 2;
}

// Waits for news, output, or the next deadline.
static struct error *wait_news(struct running_step *running)
{
    struct sandbox_run *run = running->run;
    nfds_t count = 0;
    int descriptor = run->sandbox->backend->descriptor(run->sandbox);
    if (descriptor >= 0)
        run->polled[count++] = (struct pollfd){descriptor, POLLIN, 0};
    for (size_t i = 0; i < 2 * run->count; i++)
        if (run->captures[i].descriptor >= 0)
            run->polled[count++] = (struct pollfd){run->captures[i].descriptor, POLLIN, 0};
    uint64_t now_ns = clock_ns() - running->start_ns, until_ns = limit_ns(running);
    until_ns = running->tick_ns < until_ns ? running->tick_ns : until_ns;
    uint64_t left_ns = until_ns == NEVER_NS ? NEVER_NS : until_ns > now_ns ? until_ns - now_ns : 0;
    if (running->step->branching != NULL) {
        wait_branch(running, left_ns);
        return NULL;
    }
    if (descriptor < 0) {
        if (running->pause_ns < left_ns)
            left_ns = running->pause_ns;
        if (running->pause_ns < STEP_LAST_PAUSE_NS)
            running->pause_ns *= 2;
    }
    if (running->step->stop != NULL && left_ns > STEP_STOP_PAUSE_NS)
        left_ns = STEP_STOP_PAUSE_NS;
    if (run->sandbox->process_limit.limit != 0 && left_ns > PROCESS_LIMIT_PAUSE_NS)
        left_ns = PROCESS_LIMIT_PAUSE_NS;
    struct timespec time = clock_timespec(left_ns);
    if (ppoll(run->polled, count, left_ns == NEVER_NS ? NULL : &time, NULL) < 0 && errno != EINTR)
        return error_from_errno(errno, "cannot wait for a command");
    return NULL;
}

static bool over(const struct running_step *running)
{
    return running->progress.command_gone && (running->step->linger || running->progress.step_gone);
}

static bool is_stopped(const struct running_step *running)
{
    return running->step->stop != NULL && *running->step->stop > running->step->stop_above;
}

struct own_processes {
    char path[sizeof((struct sandbox *)NULL)->root + 8];
};

// The /proc that has the processes of the run alone, or NULL.
static const char *own_processes(const struct sandbox *sandbox, struct own_processes *own)
{
    snprintf(own->path, sizeof own->path, "%s/proc", sandbox->root);
    return sandbox->root[0] == '\0' ? NULL : own->path;
}

static struct error *end_overdue(struct running_step *running)
{
    struct sandbox *sandbox = running->run->sandbox;
    struct own_processes own;
    bool looked_at = !is_stopped(running) && running->result->process_count == 0;
    if (running->step->overdue != NULL && looked_at &&
        !process_limit_is_flooded(own_processes(sandbox, &own), &sandbox->direct.spared))
        running->step->overdue(running->step->data, running->pid);
    running->result->end = SANDBOX_TIMEOUT;
    running->result->ended = running->progress.command_gone ? running->progress.status : -1;
    if (running->progress.command_gone && WIFSIGNALED(running->progress.status))
        running->result->died = WTERMSIG(running->progress.status);
    bool known = running->progress.command_gone;
    TRY(sandbox->backend->kill_step(sandbox, &running->progress));
    // It may have ended before we stopped it, and the news was on its way. Only then is its end
    // another than by the signal that we sent.
    int status = running->progress.status;
    bool by_us = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!known && running->progress.command_gone && !by_us)
        running->result->ended = status;
    return NULL;
}

static struct capture *captures_of(const struct running_step *running)
{
    return &running->run->captures[2 * (running->step - running->run->steps)];
}

// Takes the result of a copy that has ended. All its output has been read.
static struct error *take_branch(struct running_step *running, struct sandbox_result *result,
                                 bool *ret_go_on)
{
    struct branch *branch = &running->branch;
    const struct sandbox_step *step = running->step;
    result->ns = running->ran_ns + (clock_ns() - running->start_ns - branch->start_ns);
    if (branch->overdue) {
        result->end = SANDBOX_TIMEOUT;
        result->status = 0;
    }
    struct error *error = branch_end(branch, captures_of(running), result);
    if (error != NULL) {
        sandbox_result_deinit(result);
        return error;
    }
    *ret_go_on = step->branching->end(step->data, running->run->sandbox, result);
    if (running->deadline_ns != NEVER_NS)
        running->deadline_ns += clock_ns() - running->start_ns - branch->start_ns;
    return NULL;
}

// Finds out whether the command is the only process. Whoever asks for a copy knows only of its own
// children: it may be a child of the command, or another process may go on meanwhile. Then its copy
// would not do what the command does.
static struct error *find_others(struct running_step *running)
{
    if (running->alone || running->progress.command_gone)
        return NULL;
    return processes_alone(running->pid, &running->run->sandbox->direct.spared, &running->alone);
}

// Serves a command that waits for a copy to begin, or for us to look at one that ended.
static struct error *attend_branch(struct running_step *running, bool *ret_go_on)
{
    const struct sandbox_step *step = running->step;
    struct sandbox_result result = {0};
    *ret_go_on = true;
    uint64_t ran_ns, now_ns = clock_ns() - running->start_ns;
    enum sandbox_branch news = step->branching->news(step->data, &result, &ran_ns);
    if (news == SANDBOX_BRANCH_NONE)
        return NULL;
    running->pause_ns = BRANCH_FIRST_PAUSE_NS;
    TRY(read_captures(running->run));
    if (news == SANDBOX_BRANCH_ENDED && running->branch.active)
        return take_branch(running, &result, ret_go_on);
    if (news == SANDBOX_BRANCH_WANTED && !running->branch.active) {
        TRY(find_others(running));
        if (!running->alone) {
            step->branching->deny(step->data);
            return NULL;
        }
        running->ran_ns += ran_ns != 0 || running->ran_ns != 0 ? ran_ns : now_ns;
        branch_begin(&running->branch, captures_of(running), now_ns);
        step->branching->begin(step->data);
    }
    return NULL;
}

static struct error *end_branch(struct running_step *running, uint64_t now_ns)
{
    running->branch.overdue = true;
    running->ended_ns = now_ns;
    if (running->step->overdue != NULL)
        running->step->overdue(running->step->data, running->pid);
    return branch_kill(running->pid);
}

static void watch_lingering(struct running_step *running, uint64_t now_ns)
{
    if (running->progress.command_gone && running->gone_ns == 0)
        running->gone_ns = now_ns;
    if (running->step->lingering == NULL || running->told || running->gone_ns == 0 ||
        now_ns - running->gone_ns < STEP_LINGERING_WAIT_NS)
        return;
    running->told = true;
    running->step->lingering(running->step->data);
}

static bool is_hopeless(struct running_step *running, uint64_t now_ns)
{
    const struct sandbox_step *step = running->step;
    if (step->hopeless == NULL || running->progress.command_gone ||
        now_ns - running->asked_ns < STEP_HOPELESS_PAUSE_NS)
        return false;
    running->asked_ns = now_ns;
    return step->hopeless(step->data, running->pid);
}

static struct error *check_processes(struct running_step *running, uint64_t now_ns)
{
    struct sandbox *sandbox = running->run->sandbox;
    struct own_processes own;
    return process_limit_check(&sandbox->process_limit, now_ns, own_processes(sandbox, &own),
                               &sandbox->direct.spared, &running->result->process_count);
}

static struct error *watch_step(struct running_step *running)
{
    struct sandbox_run *run = running->run;
    const struct sandbox_step *step = running->step;
    for (bool go_on = true;;) {
        TRY(run->sandbox->backend->news(run->sandbox, &running->progress));
        TRY(read_captures(run));
        if (over(running))
            return NULL;
        if (step->branching != NULL)
            TRY(attend_branch(running, &go_on));
        if (!go_on)
            return run->sandbox->backend->kill_step(run->sandbox, &running->progress);
        uint64_t now_ns = clock_ns() - running->start_ns;
        TRY(check_processes(running, now_ns));
        bool late = now_ns >= limit_ns(running), branched = running->branch.active;
        if (is_stopped(running) || running->result->process_count != 0 ||
            is_hopeless(running, now_ns) || (late && (!branched || running->branch.overdue)))
            return end_overdue(running);
        if (late)
            TRY(end_branch(running, now_ns));
        watch_lingering(running, now_ns);
        bool wanted = step->tick != NULL && !running->progress.command_gone;
        if (now_ns >= running->tick_ns)
            running->tick_ns = wanted ? step->tick(step->data, running->pid, now_ns) : NEVER_NS;
        TRY(wait_news(running));
    }
}

static void conclude(struct running_step *running)
{
    struct sandbox_result *result = running->result;
    const struct progress *progress = &running->progress;
    result->ns = clock_ns() - running->start_ns;
    result->cpu_ns = progress->cpu_ns;
    result->peak_memory = progress->peak_memory;
    result->orphan = progress->orphan;
    if (result->end == SANDBOX_TIMEOUT)
        return;
    bool killed = WIFSIGNALED(progress->status);
    result->end = killed ? SANDBOX_SIGNAL : SANDBOX_EXIT;
    result->status = killed ? WTERMSIG(progress->status) : WEXITSTATUS(progress->status);
}

static struct error *run_step(struct sandbox_run *run, size_t index)
{
    const struct sandbox_step *step = &run->steps[index];
    struct capture *captures = &run->captures[2 * index];
    if (step->before != NULL && !step->before(step->data, run->sandbox))
        return NULL;
    struct running_step running = {
        .run = run,
        .step = step,
        .result = &run->results[index],
        .tick_ns = NEVER_NS,
        .deadline_ns = step->timeout_ns == 0 ? NEVER_NS : step->timeout_ns,
        .pause_ns = step->branching != NULL ? BRANCH_FIRST_PAUSE_NS : STEP_FIRST_PAUSE_NS,
    };
    run->sandbox->process_limit.next_ns = PROCESS_LIMIT_PAUSE_NS;
    TRY(start_step(&running, captures));
    if (step->started != NULL)
        running.tick_ns = step->started(step->data, running.pid);
    TRY(watch_step(&running));
    conclude(&running);
    TRY(read_captures(run));
    if (!step->linger || running.result->end == SANDBOX_TIMEOUT) {
        capture_close(&captures[0]);
        capture_close(&captures[1]);
    }
    if (step->after != NULL)
        step->after(step->data, run->sandbox, running.result);
    return NULL;
}

static struct error *run_steps(struct sandbox_run *run,
                               struct error *(*look)(void *, struct sandbox *), void *data)
{
    struct sandbox *sandbox = run->sandbox;
    for (size_t i = 0; i < run->count; i++)
        TRY(run_step(run, i));
    TRY(sandbox->backend->kill_all(sandbox));
    TRY(read_captures(run));
    return look == NULL ? NULL : look(data, sandbox);
}

struct error *sandbox_run(struct sandbox *sandbox, const struct sandbox_step *steps, size_t count,
                          const char *const *visible,
                          struct error *(*look)(void *data, struct sandbox *sandbox), void *data,
                          struct sandbox_result *results)
{
    for (size_t i = 0; i < count; i++)
        results[i] = (struct sandbox_result){.end = SANDBOX_SKIPPED};
    _cleanup_free_ struct capture *captures = calloc(2 * count + 1, sizeof *captures);
    _cleanup_free_ struct pollfd *polled = calloc(2 * count + 2, sizeof *polled);
    if (captures == NULL || polled == NULL)
        return error_no_memory();
    for (size_t i = 0; i < 2 * count; i++)
        captures[i].descriptor = -1;
    struct sandbox_run run = {sandbox, steps, results, captures, count, polled};
    struct error *error = sandbox->backend->begin(sandbox, steps, count, visible);
    if (error == NULL) {
        sandbox->in_use = true;
        error = run_steps(&run, look, data);
    }
    sandbox->backend->end(sandbox);
    sandbox->in_use = false;
    sandbox->root[0] = '\0';
    for (size_t i = 0; i < 2 * count; i++)
        capture_close(&captures[i]);
    return error;
}

void sandbox_result_deinit(struct sandbox_result *result)
{
    buffer_deinit(&result->out.kept);
    buffer_deinit(&result->err.kept);
}
