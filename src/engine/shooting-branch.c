// SPDX-License-Identifier: GPL-3.0-or-later
// Many shots in one run: the workload forks where a fault would be injected, and its copy gets the
// fault.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static struct forking *forking_of(const struct shot_run *shot_run)
{
    const struct shooting *shooting = shot_run->shooting;
    return shooting->injector->forks->forking(shooting->self);
}

static void branch_wait(void *data, uint64_t ns)
{
    forking_wait(forking_of(data), ns);
}

// The filter of system calls kills a copy with SIGSYS. In practice nothing else does.
static enum sandbox_branch branch_news(void *data, struct sandbox_result *result, uint64_t *ret_ran)
{
    struct shot_run *shot_run = data;
    const struct shooting *shooting = shot_run->shooting;
    struct forking_news news = forking_news(forking_of(shot_run));
    *ret_ran = news.resumed_ns != 0 && news.since_ns > news.resumed_ns
                   ? news.since_ns - news.resumed_ns
                   : 0;
    if (news.kind == FORKING_NOTHING)
        return SANDBOX_BRANCH_NONE;
    shot_run->branch = shooting->injector->forks->which(shooting->self, news.rule);
    if (news.kind == FORKING_ASKED)
        return SANDBOX_BRANCH_WANTED;
    bool killed = WIFSIGNALED(news.status);
    shot_run->branch_refused =
        news.refusal != WIRE_FORK_OK || (killed && WTERMSIG(news.status) == SIGSYS);
    *result = (struct sandbox_result){
        .end = killed ? SANDBOX_SIGNAL : SANDBOX_EXIT,
        .status = killed ? WTERMSIG(news.status) : WEXITSTATUS(news.status),
        .cpu_ns = news.cpu_ns,
        .peak_memory = news.peak_memory,
    };
    return SANDBOX_BRANCH_ENDED;
}

static void branch_begin(void *data)
{
    const struct shot_run *shot_run = data;
    shot_run->branches->begun(shot_run->branches->data, shot_run->branch);
    forking_grant(forking_of(shot_run));
}

static void branch_deny(void *data)
{
    forking_deny(forking_of(data));
}

// Moves what is known about a hang to the copy's run: it is about the copy. The workload, which
// waits for the copy, is the first name in the list and is dropped.
static void move_hang(struct outcome_run *from, struct outcome_run *to)
{
    to->hang_stack = TAKE(from->hang_stack);
    to->hang_key = TAKE(from->hang_key);
    to->hang_busy = from->hang_busy;
    _cleanup_free_ char *remaining = TAKE(from->remaining);
    const char *comma = remaining != NULL ? strchr(remaining, ',') : NULL;
    if (comma != NULL)
        to->remaining = strdup(comma + strspn(comma, ", "));
}

static bool branch_end(void *data, struct sandbox *sandbox, struct sandbox_result *result)
{
    struct shot_run *shot_run = data;
    const struct shooting_branches *branches = shot_run->branches;
    _cleanup_(outcome_run_deinit) struct outcome_run run = {
        .workload = *result, .input = shot_run->shooting->number_of_input};
    struct shot_run own = {.shooting = shot_run->shooting,
                           .run = &run,
                           .begun = true,
                           .overdue = result->end == SANDBOX_TIMEOUT,
                           .start = shot_run->start};
    move_hang(shot_run->run, &run);
    bool go_on = true;
    if (shot_run->branch_refused) {
        branches->refused(branches->data, shot_run->branch);
    } else {
        struct error *error = shot_run->shooting->injector->forks->observe(
            shot_run->shooting->self, sandbox_root(sandbox), shot_run->branch, &run.observation);
        if (error == NULL)
            error = shot_run_finish_branch(&own, sandbox);
        if (error == NULL)
            go_on = branches->ended(branches->data, shot_run->branch, &run);
        shot_run_keep_error(shot_run, error);
    }
    free(own.copy);
    forking_go_on(forking_of(shot_run));
    return go_on && shot_run->error == NULL;
}

const struct sandbox_branching shot_run_branching = {
    .wait = branch_wait,
    .news = branch_news,
    .begin = branch_begin,
    .deny = branch_deny,
    .end = branch_end,
};

struct error *shot_run_prepare_branches(struct shot_run *shot_run)
{
    const struct shooting_branches *branches = shot_run->branches;
    const struct injector *injector = shot_run->shooting->injector;
    _cleanup_free_ bool *suits = calloc(branches->count + 1, sizeof *suits);
    if (suits == NULL)
        return error_no_memory();
    TRY(injector->forks->prepare(shot_run->shooting->self, &shot_run->shot, branches->shots,
                                 branches->count, suits));
    for (size_t i = 0; i < branches->count; i++)
        if (!suits[i])
            branches->refused(branches->data, i);
    return NULL;
}
