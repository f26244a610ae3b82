// SPDX-License-Identifier: GPL-3.0-or-later
// Many shots in one life: the workload forks where a fault would be, and its copy takes it.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static struct forking *forking_of(const struct life *life)
{
    const struct shooting *shooting = life->shooting;
    return shooting->injector->forks->forking(shooting->self);
}

static void branch_wait(void *data, uint64_t ns)
{
    forking_wait(forking_of(data), ns);
}

// A system call that the filter does not know kills by SIGSYS: nothing else does, in practice.
static enum sandbox_branch branch_news(void *data, struct sandbox_result *result, uint64_t *ret_ran)
{
    struct life *life = data;
    const struct shooting *shooting = life->shooting;
    struct forking_news news = forking_news(forking_of(life));
    *ret_ran = news.resumed_ns != 0 && news.since_ns > news.resumed_ns
                   ? news.since_ns - news.resumed_ns
                   : 0;
    if (news.kind != FORKING_ENDED)
        return news.kind == FORKING_ASKED ? SANDBOX_BRANCH_WANTED : SANDBOX_BRANCH_NONE;
    bool killed = WIFSIGNALED(news.status);
    life->branch = shooting->injector->forks->which(shooting->self, news.rule);
    life->branch_refused =
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
    forking_grant(forking_of(data));
}

static void branch_deny(void *data)
{
    forking_deny(forking_of(data));
}

// What was seen of the processes that hung is about the copy; the workload that waits for it is the
// first of them.
static void move_hang(struct outcome_run *from, struct outcome_run *to)
{
    to->hang_stack = TAKE(from->hang_stack);
    to->hang_key = TAKE(from->hang_key);
    _cleanup_free_ char *remaining = TAKE(from->remaining);
    const char *comma = remaining != NULL ? strchr(remaining, ',') : NULL;
    if (comma != NULL)
        to->remaining = strdup(comma + strspn(comma, ", "));
}

static bool branch_end(void *data, struct sandbox *sandbox, struct sandbox_result *result)
{
    struct life *life = data;
    const struct shooting_branches *branches = life->branches;
    _cleanup_(outcome_run_deinit) struct outcome_run run = {.workload = *result};
    struct life own = {.shooting = life->shooting,
                       .run = &run,
                       .begun = true,
                       .overdue = result->end == SANDBOX_TIMEOUT,
                       .start = life->start};
    move_hang(life->run, &run);
    bool go_on = true;
    if (life->branch_refused) {
        branches->refused(branches->data, life->branch);
    } else {
        struct error *error = life->shooting->injector->forks->observe(
            life->shooting->self, sandbox_root(sandbox), life->branch, &run.observation);
        if (error == NULL)
            error = life_finish_branch(&own, sandbox);
        if (error == NULL)
            go_on = branches->ended(branches->data, life->branch, &run);
        life_keep_error(life, error);
    }
    free(own.copy);
    forking_go_on(forking_of(life));
    return go_on && life->error == NULL;
}

const struct sandbox_branching life_branching = {
    .wait = branch_wait,
    .news = branch_news,
    .begin = branch_begin,
    .deny = branch_deny,
    .end = branch_end,
};

struct error *life_prepare_branches(struct life *life)
{
    const struct shooting_branches *branches = life->branches;
    const struct injector *injector = life->shooting->injector;
    _cleanup_free_ bool *suits = calloc(branches->count + 1, sizeof *suits);
    if (suits == NULL)
        return error_no_memory();
    TRY(injector->forks->prepare(life->shooting->self, &life->shot, branches->shots,
                                 branches->count, suits));
    for (size_t i = 0; i < branches->count; i++)
        if (!suits[i])
            branches->refused(branches->data, i);
    return NULL;
}
