// SPDX-License-Identifier: GPL-3.0-or-later
// Takes in what tasks have written, and compares the queue with the pieces that are out.
#include "engines/slurm/slurm-internal.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/timeouts.h"
#include "engines/slurm/format.h"

#include <string.h>

#define MEASURED_MOST 2000.0 // jobs; what was measured before counts less and less

// What became of a task that has not written all its results; NULL: nothing that its trials can
// have to do with.
static const char *const endings[TASK_STATES] = {
    [TASK_WAITING] = "left the queue without results",
    [TASK_DIED] = "died with its node",
    [TASK_FAILED] = "failed, was out of memory or out of time",
    [TASK_ENDED] = "ended without results",
};

// Pieces are cut by how long jobs took lately.
static void measure(struct slurm *slurm, const struct done *done)
{
    if (done->results.count == 0)
        return;
    slurm->work_s += clock_seconds(done->work_ns);
    slurm->work_jobs += (double)done->results.count;
    if (slurm->work_jobs > MEASURED_MOST) {
        slurm->work_s *= MEASURED_MOST / slurm->work_jobs;
        slurm->work_jobs = MEASURED_MOST;
    }
}

static struct error *use_results(struct slurm *slurm, struct done *done, const char *name)
{
    measure(slurm, done);
    TRY(book_take(&slurm->book, done, name));
    if (done->refusal == NULL)
        return NULL;
    struct piece *piece = book_find(&slurm->book, done->piece);
    TRY(nodes_set_aside(slurm, done->node, done->refusal));
    return piece != NULL ? book_lose(&slurm->book, piece, NULL) : NULL;
}

static struct error *read_one(struct slurm *slurm, const char *name)
{
    char path[300];
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    _cleanup_(done_deinit) struct done done = {0};
    if (strlen(name) > 200)
        return NULL;
    snprintf(path, sizeof path, "done/%s", name);
    _cleanup_error_ struct error *damage = spool_read(&slurm->spool, path, &bytes);
    if (damage == NULL)
        damage = done_get(&bytes, &done);
    if (damage == NULL)
        return use_results(slurm, &done, name);
    if (damage == error_no_memory())
        return TAKE(damage);
    // Its trials are run again when their task has ended.
    return slurm->options.warn(slurm->options.data, error_message(damage));
}

struct error *intake_read_results(struct slurm *slurm)
{
    _cleanup_(words_deinit) struct words names = {0};
    TRY(spool_list(&slurm->spool, "done", &names));
    for (size_t i = 0; i < names.count; i++) {
        bool is_new;
        TRY(map_add(&slurm->seen, hash_text(names.items[i]), &is_new));
        if (is_new)
            TRY(read_one(slurm, names.items[i]));
    }
    return NULL;
}

static void note_tasks(struct slurm *slurm, const cluster_tasks *tasks, bool *ret_checking)
{
    uint64_t now_ns = clock_ns();
    *ret_checking = false;
    for (size_t i = 0; i < slurm->book.pieces.count; i++)
        slurm->book.pieces.items[i]->listed = false;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct cluster_task *task = &tasks->items[i];
        struct piece *piece = book_find(&slurm->book, task->piece);
        bool over = task->state > TASK_RUNNING;
        *ret_checking |= task->piece == 0 && !over;
        if (piece == NULL || over) {
            if (piece != NULL)
                piece->ended = task->state;
            continue;
        }
        piece->listed = true;
        piece->submitted = true;
        piece->missing_ns = 0;
        piece->running |= task->state == TASK_RUNNING;
        piece->job = task->job;
        piece->index = task->index;
        if (piece->told_ns == 0 && piece->running)
            piece->told_ns = now_ns;
    }
}

// A task of which nothing is heard for longer than its slots may take for a trial.
static bool is_stuck(const struct slurm *slurm, const struct piece *piece)
{
    return piece->listed && piece->running && piece->left != 0 &&
           clock_ns() > piece->told_ns + 3 * slurm->options.stuck_ns + CLUSTER_STUCK_WAIT_NS;
}

static struct error *look_at_piece(struct slurm *slurm, struct piece *piece)
{
    uint64_t now_ns = clock_ns();
    if (is_stuck(slurm, piece)) {
        piece->told_ns = now_ns;
        error_free(cluster_cancel_task(piece->job, piece->index));
    }
    if (piece->listed || !piece->submitted)
        return NULL;
    if (piece->missing_ns == 0)
        piece->missing_ns = now_ns;
    if (now_ns < piece->missing_ns + CLUSTER_MISSING_WAIT_NS)
        return NULL;
    return book_lose(&slurm->book, piece, piece->early_end ? NULL : endings[piece->ended]);
}

struct error *intake_look(struct slurm *slurm)
{
    _cleanup_(cluster_tasks_deinit) cluster_tasks tasks = {0};
    bool checking;
    _cleanup_error_ struct error *silence = cluster_find_tasks(&slurm->cluster, &tasks);
    // Results come after the queue: what had left it by then has written all of its own.
    TRY(intake_read_results(slurm));
    if (silence != NULL)
        return slurm_note_trouble(slurm, TAKE(silence));
    slurm->trouble_ns = 0;
    note_tasks(slurm, &tasks, &checking);
    for (size_t i = 0; i < slurm->book.pieces.count; i++)
        TRY(look_at_piece(slurm, slurm->book.pieces.items[i]));
    if (slurm->check_ns != 0)
        TRY(nodes_follow_check(slurm, checking));
    return NULL;
}
