// SPDX-License-Identifier: GPL-3.0-or-later
// Takes jobs from the piece's file, gives them to the engine `local`, and writes results in files
// of a few seconds each, so that little is lost with a node. A task that was requeued goes on after
// the results that are there.
#include "engines/slurm/task.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "engine/fork-batch.h"
#include "engine/slot-message.h"
#include "engines/local/pool.h"
#include "engines/slurm/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_ENOUGH (8u << 20) // a file of results is written when it has so many bytes

static volatile sig_atomic_t told_to_end;

static void note_end(int number)
{
    (void)number;
    told_to_end = 1;
}

struct task {
    struct spool spool;
    struct site site;
    struct work work;
    uint64_t piece;
    char *node, *who; // who: tells this attempt from all others
    bool *over;       // for each job
    size_t left, next;
    void *pool;
    struct done head; // of the next file
    struct buffer results;
    unsigned files;
    uint64_t began_ns, file_ns, pause_ns, look_ns;
    bool withdrawn;
};

static void task_deinit(struct task *task)
{
    if (task->pool != NULL)
        engine_local.end(task->pool);
    work_deinit(&task->work);
    site_deinit(&task->site);
    spool_deinit(&task->spool);
    buffer_deinit(&task->results);
    free(task->over);
    free(task->node);
    free(task->who);
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : otherwise;
}

// A name from outside as a part of a file's name.
static char *plain(const char *name)
{
    char *copy = strdup(name);
    for (char *at = copy; at != NULL && *at != '\0'; at++)
        if (*at == '/' || *at == '.')
            *at = '_';
    return copy;
}

static struct error *identify(struct task *task, const char *base)
{
    uint64_t index = strtoull(variable("SLURM_ARRAY_TASK_ID", "0"), NULL, 10);
    task->piece = strtoull(base, NULL, 10) + index;
    task->node = plain(variable("SLURMD_NODENAME", "node"));
    if (asprintf(&task->who, "%llu-%llu-%d", strtoull(variable("SLURM_JOB_ID", "0"), NULL, 10),
                 strtoull(variable("SLURM_RESTART_COUNT", "0"), NULL, 10), (int)getpid()) < 0)
        task->who = NULL;
    return task->node == NULL || task->who == NULL ? error_no_memory() : NULL;
}

// A full file system may get room again: others remove their files.
static struct error *write_patiently(const struct task *task, const char *name,
                                     const struct buffer *content)
{
    uint64_t deadline_ns = clock_ns() + CLUSTER_PATIENCE_NS;
    for (;;) {
        struct error *error = spool_write(&task->spool, name, content);
        if (error == NULL || clock_ns() >= deadline_ns || told_to_end)
            return error;
        error_free(error);
        clock_sleep(CLUSTER_RETRY_PAUSE_NS);
    }
}

static struct error *write_file(struct task *task)
{
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    char name[128];
    uint64_t now_ns = clock_ns();
    task->head.piece = task->piece;
    task->head.node = task->node;
    task->head.work_ns = now_ns - task->file_ns;
    snprintf(name, sizeof name, "done/%llu.%s.%u", (unsigned long long)task->piece, task->who,
             task->files++);
    TRY(done_put(&bytes, &task->head));
    if (task->results.size != 0)
        TRY(buffer_append(&bytes, task->results.data, task->results.size));
    TRY(write_patiently(task, name, &bytes));
    task->results.size = 0;
    task->file_ns = clock_ns();
    if (task->pause_ns < CLUSTER_FILE_LAST_NS)
        task->pause_ns *= 2;
    return NULL;
}

// The piece goes back, and the controller learns why.
static struct error *refuse(struct task *task, const char *why)
{
    task->head.refusal = (char *)(uintptr_t)why;
    struct error *error = write_file(task);
    task->head.refusal = NULL;
    return error;
}

// Whether this node has been found fit, checks it if need be.
static struct error *check_node(struct task *task)
{
    _cleanup_free_ char *name = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(node_facts_deinit) struct node_facts facts = {0};
    if (asprintf(&name, "nodes/%s", task->node) < 0)
        return name = NULL, error_no_memory();
    if (spool_has(&task->spool, name))
        return NULL;
    TRY(site_check(&task->site, &facts));
    TRY(node_facts_put(&text, &facts));
    return write_patiently(task, name, &text);
}

static struct error *compare_node(struct task *task, char **ret_why)
{
    _cleanup_free_ char *name = NULL;
    _cleanup_(buffer_deinit) struct buffer ours = {0}, theirs = {0};
    _cleanup_(node_facts_deinit) struct node_facts here = {0}, there = {0};
    if (asprintf(&name, "nodes/%s", task->node) < 0)
        return name = NULL, error_no_memory();
    TRY(spool_read(&task->spool, "facts", &theirs));
    TRY(spool_read(&task->spool, name, &ours));
    TRY(node_facts_get(&theirs, &there));
    TRY(node_facts_get(&ours, &here));
    return node_facts_compare(&there, &here, ret_why);
}

// Notes results of earlier attempts.
static struct error *skip_done(struct task *task)
{
    _cleanup_(words_deinit) struct words names = {0};
    TRY(spool_list(&task->spool, "done", &names));
    for (size_t i = 0; i < names.count; i++) {
        char name[512];
        _cleanup_(buffer_deinit) struct buffer bytes = {0};
        _cleanup_(done_deinit) struct done done = {0};
        if (spool_number(names.items[i]) != task->piece)
            continue;
        snprintf(name, sizeof name, "done/%s", names.items[i]);
        _cleanup_error_ struct error *error = spool_read(&task->spool, name, &bytes);
        if (error == NULL)
            error = done_get(&bytes, &done);
        if (error == error_no_memory())
            return TAKE(error);
        for (size_t j = 0; error == NULL && j < done.results.count; j++) {
            uint64_t tag = done.results.items[j].job.tag;
            if (tag < task->work.jobs.count && !task->over[tag]) {
                task->over[tag] = true;
                task->left--;
            }
        }
    }
    return NULL;
}

static struct error *start_pool(struct task *task)
{
    const struct site *site = &task->site;
    const struct engine_options options = {
        .task = {.definition = &site->definition,
                 .injector = site->injector,
                 .leader = shooting_injector(site->shooting),
                 .reference = site->reference,
                 .switchable = site->setup.switchable.count != 0 ? &site->setup.switchable : NULL},
        .workers = 1,
        .stuck_ns = site->setup.stuck_ns,
        .ahead = site->setup.ahead,
    };
    return engine_local.start(&options, &task->pool);
}

// The next job, or the next lot.
static size_t next_jobs(struct task *task, struct engine_job *jobs, size_t most)
{
    size_t count = 0;
    while (task->next < task->work.jobs.count && count < most) {
        const struct work_job *job = &task->work.jobs.items[task->next];
        bool last = job->more == 0;
        if (!task->over[task->next])
            jobs[count++] = job->job;
        task->next++;
        if (last && count != 0)
            break;
    }
    return count;
}

static struct error *offer_jobs(struct task *task)
{
    for (;;) {
        struct engine_job jobs[FORK_BATCH_MOST];
        struct engine_load load = engine_local.load(task->pool);
        while (task->next < task->work.jobs.count && task->over[task->next])
            task->next++;
        if (task->withdrawn || task->next == task->work.jobs.count)
            return NULL;
        bool lot = task->work.jobs.items[task->next].more != 0;
        if (load.room == 0 || (lot && load.idle == 0))
            return NULL;
        size_t count = next_jobs(task, jobs, FORK_BATCH_MOST);
        if (count != 0)
            TRY(engine_local.offer(task->pool, jobs, count));
    }
}

static struct error *keep_result(struct task *task, struct engine_result *result)
{
    struct error *error = NULL;
    if (result->way != WAY_NOT_RUN) {
        error = slot_message_put_result(&task->results, result);
        task->left--;
    }
    engine_result_deinit(result);
    return error;
}

static struct error *look_for_withdrawal(struct task *task)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (task->withdrawn || clock_ns() < task->look_ns)
        return NULL;
    task->look_ns = clock_ns() + CLUSTER_WITHDRAWAL_PAUSE_NS;
    if (spool_has(&task->spool, "withdrawn")) {
        _cleanup_error_ struct error *error = spool_read(&task->spool, "withdrawn", &text);
        task->withdrawn = error == NULL && text.size != 0 && spool_number(text.data) >= task->piece;
    }
    if (!task->withdrawn)
        return NULL;
    return engine_local.withdraw(task->pool);
}

static struct error *run_jobs(struct task *task)
{
    task->file_ns = clock_ns();
    task->pause_ns = CLUSTER_FILE_FIRST_NS;
    while (!told_to_end) {
        struct engine_result result;
        bool got;
        TRY(offer_jobs(task));
        if (engine_local.load(task->pool).busy == 0)
            break;
        const char *failure = engine_local.failure(task->pool);
        if (failure != NULL)
            return error_new("%s", failure);
        TRY(engine_local.take(task->pool, RESULT_WAIT_NS, &got, &result));
        if (got)
            TRY(keep_result(task, &result));
        TRY(look_for_withdrawal(task));
        if (clock_ns() < task->file_ns + task->pause_ns && task->results.size < FILE_ENOUGH)
            continue;
        if (task->results.size != 0)
            TRY(write_file(task));
        else
            task->file_ns = clock_ns();
    }
    return task->results.size != 0 ? write_file(task) : NULL;
}

static struct error *run_piece(struct task *task)
{
    char name[64];
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    _cleanup_free_ char *why = NULL;
    TRY(compare_node(task, &why));
    if (why != NULL)
        return refuse(task, why);
    snprintf(name, sizeof name, "work/%llu", (unsigned long long)task->piece);
    if (!spool_has(&task->spool, name))
        return NULL; // the controller has all its results
    TRY(spool_read(&task->spool, name, &bytes));
    TRY(work_get(&bytes, &task->work));
    task->over = calloc(task->work.jobs.count, sizeof *task->over);
    if (task->over == NULL)
        return error_no_memory();
    task->left = task->work.jobs.count;
    TRY(skip_done(task));
    if (task->left == 0)
        return NULL;
    TRY(start_pool(task));
    task->head.start_ns = clock_ns() - task->began_ns;
    return run_jobs(task);
}

static struct error *work(struct task *task)
{
    TRY(site_load(&task->spool, &task->site));
    if (chdir(task->site.definition.directory) < 0)
        return error_from_errno(errno, "%s", task->site.definition.directory);
    TRY(check_node(task));
    return task->piece != 0 ? run_piece(task) : NULL;
}

// What a task prints is only of interest if it fails.
static void remove_output(const struct task *task)
{
    char name[128];
    snprintf(name, sizeof name, "output/%.32s_%.32s", variable("SLURM_ARRAY_JOB_ID", "0"),
             variable("SLURM_ARRAY_TASK_ID", "0"));
    if (strchr(name + strlen("output/"), '/') == NULL)
        spool_remove(&task->spool, name);
}

struct error *task_run(char *const *words)
{
    _cleanup_(task_deinit) struct task task = {.began_ns = clock_ns()};
    if (words[0] == NULL || words[1] == NULL || words[2] != NULL)
        return error_new("'ordeal engine slurm' is started by Slurm, for a campaign");
    signal(SIGTERM, note_end);
    signal(SIGXFSZ, SIG_IGN);
    TRY(identify(&task, words[1]));
    TRY(spool_open(words[0], &task.spool));
    struct error *error = work(&task);
    if (error == NULL) {
        remove_output(&task);
        return NULL;
    }
    if (!told_to_end)
        error_free(refuse(&task, error_message(error)));
    return error;
}
