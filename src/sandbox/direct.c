// SPDX-License-Identifier: GPL-3.0-or-later
// The direct backend: steps are children of this very process, which adopts what they leave behind
// and tells them from its other children. For the working directory itself (NONE) or a copy of it
// (COPY).
#include "sandbox/groups.h"
#include "sandbox/internal.h"
#include "sandbox/keeper.h"
#include "sandbox/working-copy.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct error *spare(struct direct *direct, pid_t pid)
{
    pid_t *place = ARRAY_ADD(&direct->spared);
    if (place == NULL)
        return error_no_memory();
    *place = pid;
    return NULL;
}

static bool is_spared(const struct direct *direct, pid_t pid)
{
    for (size_t i = 0; i < direct->spared.count; i++)
        if (direct->spared.items[i] == pid)
            return true;
    return false;
}

// Notes the children that are there before the run: they belong to somebody else.
static struct error *find_others(struct direct *direct)
{
    siginfo_t info;
    direct->spared.count = 0;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD) {
        direct->others = 0;
        return NULL;
    }
    TRY(processes_children(&direct->spared));
    direct->others = direct->spared.count;
    return NULL;
}

static struct error *direct_begin(struct sandbox *sandbox, const struct sandbox_step *steps,
                                  size_t count, const char *const *visible)
{
    struct direct *direct = &sandbox->direct;
    direct->handle = direct->keeper = -1;
    direct->begun = direct->over = false;
    TRY(find_others(direct));
    direct->begun = true;
    if (!direct->was_reaper && prctl(PR_GET_CHILD_SUBREAPER, &direct->was_reaper) < 0)
        direct->was_reaper = 0;
    if (!direct->was_reaper && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_from_errno(errno, "cannot adopt the processes of a trial");
    return working_copy_begin(sandbox);
}

static void forget_command(struct direct *direct)
{
    if (direct->handle >= 0)
        close(direct->handle);
    if (direct->keeper >= 0)
        close(direct->keeper);
    direct->handle = direct->keeper = -1;
    direct->command = 0;
}

static struct error *direct_start(struct sandbox *sandbox, struct spawn *spawn, bool linger,
                                  pid_t *ret_pid)
{
    struct direct *direct = &sandbox->direct;
    forget_command(direct);
    direct->over = false;
    spawn->mortal = true;
    spawn->directory = sandbox->copy.path != NULL ? sandbox->copy.path : sandbox->directory;
    spawn->groups = groups_descriptors(sandbox->groups);
    if (linger) {
        pid_t keeper = 0;
        struct error *error = keeper_start(spawn, &keeper, &direct->keeper, &direct->command);
        if (keeper != 0) {
            struct error *spared = spare(direct, keeper);
            error = error == NULL ? spared : (error_free(spared), error);
        }
        TRY(error);
    } else {
        TRY(spawn_start(spawn, &direct->command, &direct->handle));
    }
    *ret_pid = direct->command;
    return NULL;
}

static int direct_descriptor(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    return direct->keeper >= 0 ? direct->keeper : direct->handle;
}

enum reaped {
    REAPED_ONE,
    REAPED_NONE, // all live
    NO_CHILDREN,
};

static enum reaped reap_one(struct direct *direct, pid_t pid, struct progress *progress)
{
    int status;
    struct rusage usage;
    pid_t got;
    do
        got = wait4(pid, &status, WNOHANG, &usage);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got == 0 ? REAPED_NONE : NO_CHILDREN;
    if (progress == NULL)
        return REAPED_ONE;
    progress_count(progress, &usage);
    if (got == direct->command) {
        progress->command_gone = true;
        progress->status = status;
    } else {
        progress_note_orphan_signal(progress, status);
    }
    return REAPED_ONE;
}

static void reap_listed(struct direct *direct, const pid_list *children, struct progress *progress,
                        bool *left)
{
    for (size_t i = 0; i < children->count; i++)
        if (!is_spared(direct, children->items[i]))
            *left |= reap_one(direct, children->items[i], progress) != REAPED_ONE;
}

// Reaps what has ended. *ret_left: the step has processes left.
static struct error *reap(struct direct *direct, struct progress *progress, bool *ret_left)
{
    if (direct->spared.count == 0) {
        enum reaped reaped;
        while ((reaped = reap_one(direct, -1, progress)) == REAPED_ONE)
            ;
        *ret_left = reaped == REAPED_NONE;
        return NULL;
    }
    pid_list children = {0};
    *ret_left = false;
    // The quick list may miss some. So that nothing is left is believed of the other alone.
    processes_children_quick(&children);
    reap_listed(direct, &children, progress, ret_left);
    struct error *error = NULL;
    if (!*ret_left) {
        children.count = 0;
        error = processes_children(&children);
        reap_listed(direct, &children, progress, ret_left);
    }
    ARRAY_DEINIT(&children);
    return error;
}

static struct error *direct_news(struct sandbox *sandbox, struct progress *progress)
{
    struct direct *direct = &sandbox->direct;
    if (direct->keeper >= 0) {
        struct pollfd watched = {direct->keeper, POLLIN, 0};
        if (poll(&watched, 1, 0) > 0) {
            TRY(keeper_news(direct->keeper, progress));
            progress->step_gone = true;
            forget_command(direct);
        }
        return NULL;
    }
    if (!progress->command_gone && reap_one(direct, direct->command, progress) != REAPED_ONE)
        return NULL;
    bool left;
    TRY(reap(direct, progress, &left));
    progress->step_gone = !left;
    forget_command(direct); // no descriptor tells of the others: we have to ask
    return NULL;
}

// Kills the children, and then their children, who have become ours. If a child does not die soon,
// or is not ours to kill, looks at all processes for its descendants.
static struct error *kill_hurriedly(struct direct *direct, struct progress *progress)
{
    uint64_t deadline_ns = clock_ns() + KILL_WAIT_NS;
    for (unsigned round = 1;; round++) {
        size_t count = 0, refused = 0;
        bool left = true, quick = processes_kill_children(&direct->spared, &refused);
        if (!quick || refused != 0 || round % KILL_THOROUGH_ROUNDS == 0)
            TRY(processes_signal(SIGKILL, &direct->spared, &count, &refused));
        TRY(reap(direct, progress, &left));
        if (!left)
            return NULL;
        if ((count != 0 && refused == count) || clock_ns() > deadline_ns)
            return error_new("processes of the trial cannot be killed");
        clock_sleep(KILL_PAUSE_NS);
    }
}

// Before all others, if we may: among thousands of busy processes our share of the processor would
// be too small to kill them faster than they start new ones.
static struct error *kill_but(struct direct *direct, struct progress *progress)
{
    struct sched_param before, first = {.sched_priority = 1};
    int policy = sched_getscheduler(0);
    bool hurried = policy >= 0 && sched_getparam(0, &before) == 0 &&
                   sched_setscheduler(0, SCHED_RR, &first) == 0;
    struct error *error = kill_hurriedly(direct, progress);
    if (hurried)
        sched_setscheduler(0, policy, &before);
    return error;
}

static struct error *direct_kill_step(struct sandbox *sandbox, struct progress *progress)
{
    struct direct *direct = &sandbox->direct;
    if (direct->keeper >= 0) { // what the keeper keeps is the step
        direct->spared.count--;
        forget_command(direct);
    }
    return kill_but(direct, progress);
}

static struct error *direct_kill_all(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (direct->over)
        return NULL;
    forget_command(direct);
    direct->spared.count = direct->others;
    bool left;
    TRY(reap(direct, NULL, &left)); // nearly always none is left
    if (left)
        TRY(kill_but(direct, NULL));
    direct->over = true;
    return NULL;
}

static void direct_end(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (!direct->begun) // nothing was started, and we do not know whose the children are
        return;
    error_free(direct_kill_all(sandbox));
    if (!direct->was_reaper)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    working_copy_end(sandbox);
}

const struct backend direct_backend = {
    .begin = direct_begin,
    .end = direct_end,
    .start = direct_start,
    .descriptor = direct_descriptor,
    .news = direct_news,
    .kill_step = direct_kill_step,
    .kill_all = direct_kill_all,
    .each_change = working_copy_each_change,
};
