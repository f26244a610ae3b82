// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side: cuts jobs into pieces by measured time, submits them, takes results in,
// and cuts anew what was lost. It never trusts the queue alone: a piece is lost if its task has
// left the queue and the shared directory does not have its results. No clock but its own is read.
#include "engines/slurm/slurm.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/remove.h"
#include "base/shell.h"
#include "base/timeouts.h"
#include "engines/slurm/check.h"
#include "engines/slurm/command.h"
#include "engines/slurm/slurm-internal.h"
#include "engines/slurm/task.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITING_MOST     1000000u // jobs that are held here
#define TASKS_PER_WORKER 2        // one that runs and one that waits
#define SHARES           4        // the rest is cut into so many pieces for each worker
#define TRIAL_COST_S     0.005    // beside the workload, before anything was measured
#define LOSSES_MOST      50       // pieces in a row without a result, then it is given up

double slurm_job_seconds(const struct slurm *slurm)
{
    if (slurm->work_jobs > 0 && slurm->work_s > 0)
        return slurm->work_s / slurm->work_jobs;
    return reference_seconds(slurm->options.task.reference)->mean + TRIAL_COST_S;
}

void slurm_give_up(struct slurm *slurm, const char *why)
{
    if (slurm->failure == NULL)
        slurm->failure = strdup(why);
}

struct error *slurm_note_trouble(struct slurm *slurm, struct error *error)
{
    _cleanup_error_ struct error *trouble = error;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (error == error_no_memory())
        return TAKE(trouble);
    uint64_t now_ns = clock_ns();
    slurm->send_ns = now_ns + CLUSTER_RETRY_PAUSE_NS;
    if (slurm->trouble_ns == 0) {
        slurm->trouble_ns = now_ns;
        TRY(buffer_printf(&text, "%s; it is tried again for %.0f minutes", error_message(error),
                          clock_seconds(CLUSTER_PATIENCE_NS) / 60));
        return slurm->options.warn(slurm->options.data, text.data);
    }
    if (now_ns > slurm->trouble_ns + CLUSTER_PATIENCE_NS)
        slurm_give_up(slurm, error_message(error));
    return NULL;
}

static void slurm_free(struct slurm *slurm)
{
    book_deinit(&slurm->book);
    node_facts_deinit(&slurm->facts);
    words_deinit(&slurm->excluded);
    map_deinit(&slurm->seen);
    spool_deinit(&slurm->spool);
    free(slurm->cluster.name);
    free(slurm->script);
    free(slurm->output);
    free(slurm->failure);
    free(slurm);
}

static struct error *write_script(struct slurm *slurm)
{
    char program[PATH_MAX];
    _cleanup_(buffer_deinit) struct buffer text = {0};
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0)
        return error_from_errno(errno, "cannot tell where ordeal is");
    program[size] = '\0';
    TRY(buffer_printf(&text, "#!/bin/sh\nexec "));
    TRY(shell_put_word(&text, program));
    TRY(buffer_printf(&text, " engine slurm "));
    TRY(shell_put_word(&text, slurm->spool.path));
    TRY(buffer_printf(&text, " \"$1\"\n"));
    slurm->script = spool_file(&slurm->spool, "run");
    slurm->output = spool_file(&slurm->spool, "output/%A_%a");
    if (slurm->script == NULL || slurm->output == NULL)
        return error_no_memory();
    return spool_write(&slurm->spool, "run", &text);
}

// What nodes are compared with.
static struct error *write_facts(struct slurm *slurm)
{
    const struct definition *definition = slurm->options.task.definition;
    const struct sandbox_options options = {.kind = definition->sandbox,
                                            .directory = definition->directory,
                                            .limits = definition->limits};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct sandbox *sandbox;
    TRY(sandbox_new(&options, &sandbox));
    struct error *error =
        node_facts_add(&slurm->facts, FACT_SANDBOX, "", sandbox_kind_word(sandbox_kind(sandbox)));
    sandbox_free(sandbox);
    TRY(error);
    TRY(node_facts_collect(&slurm->facts, definition));
    TRY(node_facts_add(&slurm->facts, FACT_REFERENCES, "", "same"));
    TRY(node_facts_put(&text, &slurm->facts));
    return spool_write(&slurm->spool, "facts", &text);
}

static struct error *write_site(struct slurm *slurm)
{
    TRY(write_script(slurm));
    TRY(write_facts(slurm));
    return site_save(&slurm->spool, &slurm->options);
}

// Finds the pieces of an earlier controller.
static struct error *adopt(struct slurm *slurm)
{
    _cleanup_(words_deinit) struct words names = {0};
    TRY(spool_list(&slurm->spool, "work", &names));
    for (size_t i = 0; i < names.count; i++) {
        char name[64];
        _cleanup_(buffer_deinit) struct buffer bytes = {0};
        _cleanup_(work_deinit) struct work work = {0};
        uint64_t number = spool_number(names.items[i]);
        snprintf(name, sizeof name, "work/%llu", (unsigned long long)number);
        _cleanup_error_ struct error *error = spool_read(&slurm->spool, name, &bytes);
        if (error == NULL)
            error = work_get(&bytes, &work);
        if (error == error_no_memory())
            return TAKE(error);
        // Trials of a file that is damaged are run again.
        if (error == NULL && work.piece == number)
            TRY(book_adopt(&slurm->book, &work));
        if (error != NULL && slurm->book.next <= number)
            slurm->book.next = number + 1;
    }
    return names.count != 0 ? intake_look(slurm) : NULL;
}

// What an earlier controller withdrew, and what nodes were then: either may have changed.
static struct error *forget_earlier(struct slurm *slurm)
{
    _cleanup_(words_deinit) struct words names = {0};
    spool_remove(&slurm->spool, "withdrawn");
    TRY(spool_list(&slurm->spool, "nodes", &names));
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_free_ char *name = NULL;
        if (asprintf(&name, "nodes/%s", names.items[i]) < 0) {
            name = NULL;
            return error_no_memory();
        }
        spool_remove(&slurm->spool, name);
    }
    return NULL;
}

static struct error *begin(struct slurm *slurm)
{
    const struct definition *definition = slurm->options.task.definition;
    slurm->cluster.partition = definition->cluster.partition;
    slurm->cluster.options = &definition->cluster.options;
    slurm->cluster.name = strdup(file_base_name(slurm->options.shared));
    if (slurm->cluster.name == NULL)
        return error_no_memory();
    TRY(cluster_ask_limits(&slurm->cluster));
    TRY(nodes_count(slurm));
    TRY(spool_make(slurm->options.shared, &slurm->spool));
    slurm->fresh = !spool_has(&slurm->spool, "setup");
    TRY(forget_earlier(slurm));
    TRY(write_site(slurm));
    TRY(adopt(slurm));
    TRY(nodes_begin_check(slurm));
    return NULL;
}

static struct error *slurm_start(const struct engine_options *options, void **ret_self)
{
    struct slurm *slurm = calloc(1, sizeof *slurm);
    if (slurm == NULL)
        return error_no_memory();
    slurm->options = *options;
    slurm->options.shared = NULL;
    char *shared = strdup(options->shared);
    if (shared == NULL) {
        slurm_free(slurm);
        return error_no_memory();
    }
    slurm->options.shared = shared;
    struct error *error = begin(slurm);
    free(shared);
    slurm->options.shared = NULL;
    if (error != NULL && slurm->spool.path != NULL && slurm->fresh)
        error_free(remove_tree(slurm->spool.path));
    if (error != NULL) {
        slurm_free(slurm);
        return error;
    }
    *ret_self = slurm;
    return NULL;
}

// Nothing is left behind if everything came back. Otherwise results that are there are taken when
// the campaign is resumed.
static void slurm_end(void *self)
{
    struct slurm *slurm = self;
    if (slurm == NULL)
        return;
    error_free(cluster_cancel(&slurm->cluster, false));
    if (slurm->book.open == 0) {
        error_free(remove_tree(slurm->spool.path));
        char *slash = strrchr(slurm->spool.path, '/');
        if (slash != NULL && slurm->options.task.definition->cluster.directory == NULL) {
            *slash = '\0';
            rmdir(slurm->spool.path); // unless another campaign of the store has its own there
        }
    }
    slurm_free(slurm);
}

static size_t jobs_in(const struct slurm *slurm, uint64_t ns)
{
    double jobs = clock_seconds(ns) / slurm_job_seconds(slurm);
    return jobs >= FORMAT_JOBS_MOST / 2 ? FORMAT_JOBS_MOST / 2 : jobs >= 1 ? (size_t)jobs : 1;
}

// As many as are needed to cut all pieces by time; towards the end there are no more.
static struct engine_load slurm_load(const void *self)
{
    const struct slurm *slurm = self;
    struct engine_load load = {.busy = slurm->book.open != 0};
    size_t wanted = SHARES * (size_t)slurm->workers * jobs_in(slurm, CLUSTER_PIECE_NS);
    size_t waiting = book_waiting(&slurm->book);
    if (wanted > WAITING_MOST)
        wanted = WAITING_MOST;
    if (slurm->failure != NULL || waiting >= wanted)
        return load;
    load.room = (unsigned)(wanted - waiting);
    load.idle = slurm->workers;
    return load;
}

static struct error *slurm_offer(void *self, const struct engine_job *jobs, size_t count)
{
    struct slurm *slurm = self;
    return book_offer(&slurm->book, jobs, count);
}

static size_t tasks_out(const struct slurm *slurm)
{
    size_t count = 0;
    for (size_t i = 0; i < slurm->book.pieces.count; i++) {
        const struct piece *piece = slurm->book.pieces.items[i];
        count += piece->listed || piece->left != 0;
    }
    return count;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// A share of the rest, so that all workers are done at about the same time; but not less than is
// worth the start of a task, unless each worker then had less than one piece.
static size_t piece_size(const struct slurm *slurm)
{
    size_t waiting = book_waiting(&slurm->book);
    size_t share = waiting / (SHARES * (size_t)slurm->workers) + 1;
    size_t worthwhile = least(jobs_in(slurm, CLUSTER_PIECE_LEAST_NS), waiting / slurm->workers + 1);
    return least(share > worthwhile ? share : worthwhile, jobs_in(slurm, CLUSTER_PIECE_NS));
}

static struct error *cut_pieces(struct slurm *slurm)
{
    // A number of workers that the user gave is a limit.
    size_t most = slurm->workers * (slurm->options.workers != 0 ? 1 : TASKS_PER_WORKER);
    for (size_t out = tasks_out(slurm); out < most; out++) {
        struct piece *piece;
        TRY(book_cut(&slurm->book, piece_size(slurm), &piece));
        if (piece == NULL)
            break;
    }
    return NULL;
}

static struct error *write_piece(const struct slurm *slurm, const struct piece *piece)
{
    struct work work = {.piece = piece->id};
    char name[64];
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    struct error *error = NULL;
    for (size_t i = 0; i < piece->jobs.count && error == NULL; i++) {
        struct work_job *job = ARRAY_ADD(&work.jobs);
        if (job == NULL)
            error = error_no_memory();
        else
            *job = (struct work_job){.job = piece->jobs.items[i].job.job,
                                     .more = piece->jobs.items[i].job.more};
    }
    if (error == NULL)
        error = work_put(&bytes, &work);
    ARRAY_DEINIT(&work.jobs); // the specs are the piece's
    snprintf(name, sizeof name, "work/%llu", (unsigned long long)piece->id);
    return error != NULL ? error : spool_write(&slurm->spool, name, &bytes);
}

// The first pieces that are not submitted and follow each other.
static size_t find_unsent(const struct slurm *slurm, size_t *ret_count)
{
    const struct book *book = &slurm->book;
    size_t first = 0, count = 0;
    while (first < book->pieces.count && book->pieces.items[first]->submitted)
        first++;
    while (first + count < book->pieces.count && count < slurm->cluster.array_most &&
           !book->pieces.items[first + count]->submitted &&
           book->pieces.items[first + count]->id == book->pieces.items[first]->id + count)
        count++;
    *ret_count = count;
    return first;
}

static struct error *send_array(struct slurm *slurm, struct piece *const *pieces, size_t count)
{
    const struct cluster_array array = {
        .script = slurm->script,
        .output = slurm->output,
        .base = pieces[0]->id,
        .count = (unsigned)count,
        .excluded = &slurm->excluded,
    };
    for (size_t i = 0; i < count; i++)
        TRY(write_piece(slurm, pieces[i]));
    TRY(cluster_submit(&slurm->cluster, &array));
    for (size_t i = 0; i < count; i++)
        pieces[i]->submitted = pieces[i]->listed = true;
    return NULL;
}

static struct error *send_pieces(struct slurm *slurm)
{
    if (slurm->check_ns != 0 || slurm->failure != NULL || clock_ns() < slurm->send_ns)
        return NULL;
    TRY(cut_pieces(slurm));
    for (;;) {
        size_t count, first = find_unsent(slurm, &count);
        if (count == 0)
            return NULL;
        struct error *error = send_array(slurm, slurm->book.pieces.items + first, count);
        if (error != NULL)
            return slurm_note_trouble(slurm, error);
    }
}

// When to do something again that began at `start_ns`: it must not take more than a small part of
// all time.
static uint64_t next_time(uint64_t start_ns, uint64_t least_ns)
{
    uint64_t now_ns = clock_ns(), pause_ns = CLUSTER_LOOK_SHARE * (now_ns - start_ns);
    return now_ns + (pause_ns > least_ns ? pause_ns : least_ns);
}

// Does what is due: looks at the cluster, and gives it more to do.
static struct error *advance(struct slurm *slurm)
{
    uint64_t start_ns = clock_ns();
    if (start_ns >= slurm->look_ns) {
        TRY(intake_look(slurm));
        slurm->look_ns = next_time(start_ns, CLUSTER_LOOK_PAUSE_NS);
        if (slurm->book.losses_in_row >= LOSSES_MOST)
            slurm_give_up(slurm, "the cluster lost one job after the other");
    }
    start_ns = clock_ns();
    if (start_ns >= slurm->read_ns) {
        TRY(intake_read_results(slurm));
        slurm->read_ns = next_time(start_ns, CLUSTER_READ_PAUSE_NS);
    }
    if (clock_ns() >= slurm->nodes_ns) {
        struct error *error = nodes_count(slurm);
        if (error != NULL)
            TRY(slurm_note_trouble(slurm, error));
    }
    return send_pieces(slurm);
}

static struct error *slurm_take(void *self, uint64_t timeout_ns, bool *ret_got,
                                struct engine_result *ret_result)
{
    struct slurm *slurm = self;
    *ret_got = book_next(&slurm->book, ret_result);
    if (*ret_got)
        return NULL;
    TRY(advance(slurm));
    *ret_got = book_next(&slurm->book, ret_result);
    if (!*ret_got && slurm->failure == NULL)
        clock_sleep(timeout_ns);
    return NULL;
}

static struct error *slurm_withdraw(void *self)
{
    struct slurm *slurm = self;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (slurm->book.open == 0)
        return NULL;
    TRY(book_withdraw(&slurm->book));
    for (size_t i = 0; i < slurm->book.pieces.count; i++) {
        struct piece *piece = slurm->book.pieces.items[i];
        if (!piece->submitted)
            TRY(book_lose(&slurm->book, piece, NULL));
        piece->submitted = true;
    }
    TRY(buffer_printf(&text, "%llu", (unsigned long long)slurm->book.next));
    struct error *error = spool_write(&slurm->spool, "withdrawn", &text);
    slurm->book.next++;
    if (error == NULL)
        error = cluster_cancel(&slurm->cluster, true);
    slurm->look_ns = 0;
    return error != NULL ? slurm_note_trouble(slurm, error) : NULL;
}

static const char *slurm_failure(const void *self)
{
    const struct slurm *slurm = self;
    // What has come is taken first.
    return slurm->book.taken == slurm->book.ready.count ? slurm->failure : NULL;
}

static void slurm_stored(void *self)
{
    struct slurm *slurm = self;
    struct piece *piece;
    while ((piece = book_remove_done(&slurm->book)) != NULL) {
        char name[300];
        for (size_t i = 0; i < piece->files.count; i++) {
            snprintf(name, sizeof name, "done/%s", piece->files.items[i]);
            spool_remove(&slurm->spool, name);
        }
        snprintf(name, sizeof name, "work/%llu", (unsigned long long)piece->id);
        spool_remove(&slurm->spool, name);
        piece_free(piece);
    }
}

static struct error *slurm_describe(struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer version = {0}, nodes = {0};
    char *const ask[] = {"sbatch", "--version", NULL};
    char *const count[] = {"sinfo", "-h", "-o", "%D nodes of partition %P, %a", NULL};
    TRY(command_run(ask, &version));
    TRY(command_run(count, &nodes));
    const char *shown = nodes.size != 0 ? nodes.data : "no nodes";
    return buffer_printf(text, "%.*s, %.*s", (int)strcspn(version.data, "\n"), version.data,
                         (int)strcspn(shown, "\n"), shown);
}

const struct engine engine_slurm = {
    .name = "slurm",
    .elsewhere = true,
    .start = slurm_start,
    .end = slurm_end,
    .load = slurm_load,
    .offer = slurm_offer,
    .withdraw = slurm_withdraw,
    .take = slurm_take,
    .failure = slurm_failure,
    .stored = slurm_stored,
    .describe = slurm_describe,
    .work = task_run,
};
