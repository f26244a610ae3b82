// SPDX-License-Identifier: GPL-3.0-or-later
// A life, whichever way it is led: steps one after the other, their output, their time.
#include "sandbox/branch.h"
#include "sandbox/capture.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#define NEVER          UINT64_MAX
#define SHORT_PATIENCE 100000ull
#define LONG_PATIENCE  10000000ull
#define LINGERING_NS   3000000000ull
#define HOPE_NS        1000000000ull
#define STOP_PATIENCE  100000000ull // a signal that comes just before the wait does not end it

struct life {
    struct sandbox *sandbox;
    const struct sandbox_step *steps;
    struct sandbox_result *results;
    struct capture *captures; // two for each step
    size_t count;
    struct pollfd *polled;
};

struct running {
    struct life *life;
    const struct sandbox_step *step;
    struct sandbox_result *result;
    struct progress progress;
    pid_t pid;
    uint64_t start, tick, deadline; // tick and deadline: ns after the start
    uint64_t patience;
    struct branch branch;
    bool alone;     // a command that has branched is all there is, and starts nobody
    uint64_t ran;   // ns that the command itself had run when it last branched
    uint64_t gone;  // ns after the start when the command was seen to have ended; 0: not yet
    bool told;      // that others have not
    uint64_t asked; // ns after the start when there was hope
    uint64_t ended; // ns after the start when the branch was killed
};

static struct error *read_captures(struct life *life)
{
    for (size_t i = 0; i < 2 * life->count; i++)
        if (life->captures[i].descriptor >= 0)
            TRY(capture_read(&life->captures[i]));
    return NULL;
}

static struct error *start_step(struct running *running, struct capture *captures)
{
    struct sandbox *sandbox = running->life->sandbox;
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
        .limits = sandbox->limits,
        .announce = -1,
        .ignored = sandbox->ignored,
    };
    running->start = clock_ns();
    return sandbox->backend->start(sandbox, &spawn, running->step->linger, &running->pid);
}

// The command's clock stands still while there is a copy of it, which has all of the time. Once it
// was killed for it, its end is to be told within as long: what the command tells us is in memory
// that it can write.
static uint64_t limit_of(const struct running *running)
{
    const struct branch *branch = &running->branch;
    if (!branch->active)
        return running->deadline;
    uint64_t start = branch->overdue ? running->ended : branch->start;
    return running->step->timeout_ns == 0 ? NEVER : start + running->step->timeout_ns;
}

// News of branches cannot be waited for together with output and the command's end: these are
// looked for often enough.
static void wait_branch(struct running *running, uint64_t left)
{
    const struct sandbox_step *step = running->step;
    step->branching->wait(step->data, left < running->patience ? left : running->patience);
    if (running->patience < BRANCH_PATIENCE)
        running->patience *= 2;
}

// Waits for news, output, or the next moment of interest.
static struct error *wait_news(struct running *running)
{
    struct life *life = running->life;
    nfds_t count = 0;
    int descriptor = life->sandbox->backend->descriptor(life->sandbox);
    if (descriptor >= 0)
        life->polled[count++] = (struct pollfd){descriptor, POLLIN, 0};
    for (size_t i = 0; i < 2 * life->count; i++)
        if (life->captures[i].descriptor >= 0)
            life->polled[count++] = (struct pollfd){life->captures[i].descriptor, POLLIN, 0};
    uint64_t now = clock_ns() - running->start;
    uint64_t limit = limit_of(running);
    uint64_t until = running->tick < limit ? running->tick : limit;
    uint64_t left = until == NEVER ? NEVER : until > now ? until - now : 0;
    if (running->step->branching != NULL) {
        wait_branch(running, left);
        return NULL;
    }
    if (descriptor < 0) {
        if (running->patience < left)
            left = running->patience;
        if (running->patience < LONG_PATIENCE)
            running->patience *= 2;
    }
    if (running->step->stop != NULL && left > STOP_PATIENCE)
        left = STOP_PATIENCE;
    if (life->sandbox->crowd.limit != 0 && left > CROWD_PATIENCE)
        left = CROWD_PATIENCE;
    struct timespec time = {.tv_sec = (time_t)(left / 1000000000u),
                            .tv_nsec = (long)(left % 1000000000u)};
    if (ppoll(life->polled, count, left == NEVER ? NULL : &time, NULL) < 0 && errno != EINTR)
        return error_from_errno(errno, "cannot wait for a command");
    return NULL;
}

static bool over(const struct running *running)
{
    return running->progress.command_gone && (running->step->linger || running->progress.step_gone);
}

static bool is_stopped(const struct running *running)
{
    return running->step->stop != NULL && *running->step->stop > running->step->stop_above;
}

static struct error *end_overdue(struct running *running)
{
    struct sandbox *sandbox = running->life->sandbox;
    bool looked_at = !is_stopped(running) && running->result->crowd == 0;
    if (running->step->overdue != NULL && looked_at)
        running->step->overdue(running->step->data, running->pid);
    running->result->end = SANDBOX_TIMEOUT;
    if (running->progress.command_gone && WIFSIGNALED(running->progress.status))
        running->result->died = WTERMSIG(running->progress.status);
    return sandbox->backend->kill_step(sandbox, &running->progress);
}

static struct capture *captures_of(const struct running *running)
{
    return &running->life->captures[2 * (running->step - running->life->steps)];
}

// Of a copy that has ended: all that it wrote has been read.
static struct error *take_branch(struct running *running, struct sandbox_result *result,
                                 bool *ret_go_on)
{
    struct branch *branch = &running->branch;
    const struct sandbox_step *step = running->step;
    result->ns = running->ran + (clock_ns() - running->start - branch->start);
    if (branch->overdue) {
        result->end = SANDBOX_TIMEOUT;
        result->status = 0;
    }
    struct error *error = branch_end(branch, captures_of(running), result);
    if (error != NULL) {
        sandbox_result_deinit(result);
        return error;
    }
    *ret_go_on = step->branching->end(step->data, running->life->sandbox, result);
    if (running->deadline != NEVER)
        running->deadline += clock_ns() - running->start - branch->start;
    return NULL;
}

// Who asks for a copy knows of its own children only: it may itself be a child of the command, or
// somebody else may go on meanwhile. What its copy does would not be what the command does.
static struct error *find_others(struct running *running)
{
    if (running->alone || running->progress.command_gone)
        return NULL;
    return processes_alone(running->pid, &running->life->sandbox->direct.spared, &running->alone);
}

// The command may wait to branch off a copy, or for us to look at one.
static struct error *attend_branch(struct running *running, bool *ret_go_on)
{
    const struct sandbox_step *step = running->step;
    struct sandbox_result result = {0};
    *ret_go_on = true;
    uint64_t ran, now = clock_ns() - running->start;
    enum sandbox_branch news = step->branching->news(step->data, &result, &ran);
    if (news == SANDBOX_BRANCH_NONE)
        return NULL;
    running->patience = BRANCH_FIRST_PATIENCE;
    TRY(read_captures(running->life));
    if (news == SANDBOX_BRANCH_ENDED && running->branch.active)
        return take_branch(running, &result, ret_go_on);
    if (news == SANDBOX_BRANCH_WANTED && !running->branch.active) {
        TRY(find_others(running));
        if (!running->alone) {
            step->branching->deny(step->data);
            return NULL;
        }
        running->ran += ran != 0 || running->ran != 0 ? ran : now;
        branch_begin(&running->branch, captures_of(running), now);
        step->branching->begin(step->data);
    }
    return NULL;
}

static struct error *end_branch(struct running *running, uint64_t now)
{
    running->branch.overdue = true;
    running->ended = now;
    if (running->step->overdue != NULL)
        running->step->overdue(running->step->data, running->pid);
    return branch_kill(running->pid);
}

static void watch_lingering(struct running *running, uint64_t now)
{
    if (running->progress.command_gone && running->gone == 0)
        running->gone = now;
    if (running->step->lingering == NULL || running->told || running->gone == 0 ||
        now - running->gone < LINGERING_NS)
        return;
    running->told = true;
    running->step->lingering(running->step->data);
}

static bool is_hopeless(struct running *running, uint64_t now)
{
    const struct sandbox_step *step = running->step;
    if (step->hopeless == NULL || running->progress.command_gone || now - running->asked < HOPE_NS)
        return false;
    running->asked = now;
    return step->hopeless(step->data, running->pid);
}

static struct error *watch_step(struct running *running)
{
    struct life *life = running->life;
    const struct sandbox_step *step = running->step;
    for (bool go_on = true;;) {
        TRY(life->sandbox->backend->news(life->sandbox, &running->progress));
        TRY(read_captures(life));
        if (over(running))
            return NULL;
        if (step->branching != NULL)
            TRY(attend_branch(running, &go_on));
        if (!go_on)
            return life->sandbox->backend->kill_step(life->sandbox, &running->progress);
        uint64_t now = clock_ns() - running->start;
        TRY(crowd_look(&life->sandbox->crowd, now, &life->sandbox->direct.spared,
                       &running->result->crowd));
        bool late = now >= limit_of(running), branched = running->branch.active;
        if (is_stopped(running) || running->result->crowd != 0 || is_hopeless(running, now) ||
            (late && (!branched || running->branch.overdue)))
            return end_overdue(running);
        if (late)
            TRY(end_branch(running, now));
        watch_lingering(running, now);
        bool wanted = step->tick != NULL && !running->progress.command_gone;
        if (now >= running->tick)
            running->tick = wanted ? step->tick(step->data, running->pid, now) : NEVER;
        TRY(wait_news(running));
    }
}

static void conclude(struct running *running)
{
    struct sandbox_result *result = running->result;
    const struct progress *progress = &running->progress;
    result->ns = clock_ns() - running->start;
    result->cpu_ns = progress->cpu_ns;
    result->peak_memory = progress->peak_memory;
    result->orphan = progress->orphan;
    if (result->end == SANDBOX_TIMEOUT)
        return;
    bool killed = WIFSIGNALED(progress->status);
    result->end = killed ? SANDBOX_SIGNAL : SANDBOX_EXIT;
    result->status = killed ? WTERMSIG(progress->status) : WEXITSTATUS(progress->status);
}

static struct error *run_step(struct life *life, size_t index)
{
    const struct sandbox_step *step = &life->steps[index];
    struct capture *captures = &life->captures[2 * index];
    if (step->before != NULL && !step->before(step->data, life->sandbox))
        return NULL;
    struct running running = {
        .life = life,
        .step = step,
        .result = &life->results[index],
        .tick = NEVER,
        .deadline = step->timeout_ns == 0 ? NEVER : step->timeout_ns,
        .patience = step->branching != NULL ? BRANCH_FIRST_PATIENCE : SHORT_PATIENCE,
    };
    life->sandbox->crowd.next = CROWD_PATIENCE;
    TRY(start_step(&running, captures));
    if (step->started != NULL)
        running.tick = step->started(step->data, running.pid);
    TRY(watch_step(&running));
    conclude(&running);
    TRY(read_captures(life));
    if (!step->linger || running.result->end == SANDBOX_TIMEOUT) {
        capture_close(&captures[0]);
        capture_close(&captures[1]);
    }
    if (step->after != NULL)
        step->after(step->data, life->sandbox, running.result);
    return NULL;
}

static struct error *lead(struct life *life, struct error *(*look)(void *, struct sandbox *),
                          void *data)
{
    struct sandbox *sandbox = life->sandbox;
    for (size_t i = 0; i < life->count; i++)
        TRY(run_step(life, i));
    TRY(sandbox->backend->kill_all(sandbox));
    TRY(read_captures(life));
    return look == NULL ? NULL : look(data, sandbox);
}

struct error *sandbox_live(struct sandbox *sandbox, const struct sandbox_step *steps, size_t count,
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
    struct life life = {sandbox, steps, results, captures, count, polled};
    struct error *error = sandbox->backend->begin(sandbox, steps, count, visible);
    if (error == NULL) {
        sandbox->alive = true;
        error = lead(&life, look, data);
    }
    sandbox->backend->end(sandbox);
    sandbox->alive = false;
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
