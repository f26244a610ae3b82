// SPDX-License-Identifier: GPL-3.0-or-later
// Workers take candidates one by one and write outcomes into shared memory. A file that is changed
// is newer than what was built of it, so `make` and its like build what is needed.
#include "mutate/score/score.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "mutate/image-level.h"
#include "mutate/score/built-in.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct shared {
    atomic_size_t next;
    _Atomic bool failed; // a sandbox cannot be had
    struct {
        uint8_t outcome;
        uint64_t ns;
    } items[];
};

struct worker {
    const struct mutate_set *set;
    const bool *wanted;
    const struct score_options *options;
    struct sandbox *sandbox;
    char *directory;           // real path of the working directory
    struct built_in *built_in; // or NULL
    // of the run
    size_t number;    // of the candidate; SIZE_MAX: without a fault
    const char *file; // that is changed, or NULL
    struct buffer text;
    bool watched; // the runtime is there
    bool ready;   // the fault is where it should be
};

const char *score_outcome_word(enum score_outcome outcome)
{
    static const char *const words[SCORE_OUTCOMES] = {"none",      "killed",  "timeout", "survived",
                                                      "unreached", "ignored", "error"};
    return words[outcome];
}

// Called just before the tests start.
static bool put_mutant(void *data, struct sandbox *sandbox)
{
    struct worker *worker = data;
    struct error *error = NULL;
    if (worker->watched)
        error = built_in_begin(worker->built_in, sandbox_directory(sandbox), worker->directory,
                               sandbox_root(sandbox));
    else if (worker->file != NULL)
        error = sandbox_put_file(sandbox, worker->file, &worker->text);
    worker->ready = error == NULL;
    error_free(error);
    return worker->ready;
}

static struct error *run_tests(struct worker *worker, uint64_t timeout_ns,
                               struct sandbox_result *ret_result)
{
    struct built_in_run built_in = {environ, NULL};
    worker->ready = false;
    if (worker->watched)
        TRY(built_in_prepare(worker->built_in, worker->number, worker->options->command,
                             &built_in));
    const struct sandbox_step step = {
        .command = worker->options->command,
        .environment = built_in.environment,
        .input = -1,
        .timeout_ns = timeout_ns,
        .before = put_mutant,
        .data = worker,
    };
    TRY(sandbox_run(worker->sandbox, &step, 1, built_in.visible, NULL, NULL, ret_result));
    return worker->watched && worker->ready ? built_in_end(worker->built_in) : NULL;
}

static enum score_outcome outcome_of(const struct worker *worker,
                                     const struct sandbox_result *result)
{
    if (!worker->ready || result->end == SANDBOX_SKIPPED)
        return SCORE_ERROR;
    if (result->end == SANDBOX_TIMEOUT)
        return SCORE_TIMEOUT;
    return result->end == SANDBOX_EXIT && result->status == 0 ? SCORE_SURVIVED : SCORE_KILLED;
}

static struct error *run_one(struct worker *worker, size_t number, uint64_t timeout_ns,
                             uint8_t *ret_outcome, uint64_t *ret_ns)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    worker->number = number;
    worker->watched = sandbox_kind(worker->sandbox) == SANDBOX_NONE;
    if (!worker->watched) {
        worker->file = worker->set->items.items[number].changed;
        buffer_deinit(&worker->text);
        worker->text = (struct buffer){0};
        TRY(worker->built_in != NULL
                ? built_in_content(worker->built_in, number, &worker->text)
                : worker->set->level->apply(worker->set, number, &worker->text));
    }
    TRY(run_tests(worker, timeout_ns, &result));
    *ret_outcome = (uint8_t)outcome_of(worker, &result);
    *ret_ns = result.ns;
    return NULL;
}

static struct error *open_worker(struct worker *worker)
{
    worker->directory = realpath(".", NULL);
    if (worker->directory == NULL)
        return error_from_errno(errno, "cannot find the working directory");
    const struct sandbox_options options = {
        .kind = worker->options->sandbox, .directory = worker->directory, .capture_limit = 4096};
    return sandbox_new(&options, &worker->sandbox);
}

static void close_worker(struct worker *worker)
{
    sandbox_free(worker->sandbox);
    free(worker->directory);
    buffer_deinit(&worker->text);
}

static bool is_run(const struct worker *worker, size_t number)
{
    return worker->wanted[number] && worker->set->items.items[number].state == MUTATE_APPLICABLE &&
           (worker->built_in == NULL || built_in_reached(worker->built_in, number));
}

static void work(struct worker *worker, struct shared *shared, uint64_t timeout_ns)
{
    struct error *error = open_worker(worker);
    if (error != NULL)
        shared->failed = true;
    for (size_t i; error == NULL && (i = shared->next++) < worker->set->items.count;) {
        if (!is_run(worker, i))
            continue;
        struct error *failure =
            run_one(worker, i, timeout_ns, &shared->items[i].outcome, &shared->items[i].ns);
        if (failure != NULL)
            shared->items[i].outcome = SCORE_ERROR;
        error_free(failure);
    }
    close_worker(worker);
}

// The tests without a fault, in the same surroundings.
static struct error *run_plain(struct worker *worker, uint64_t *ret_ns)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    struct error *error = open_worker(worker);
    worker->file = NULL;
    worker->number = SIZE_MAX;
    worker->watched = worker->built_in != NULL;
    if (error == NULL)
        error = run_tests(worker, worker->options->timeout_ns, &result);
    if (error == NULL && (result.end != SANDBOX_EXIT || result.status != 0))
        error =
            error_new("the tests fail without a fault: '%s' ends with %s %d%s%.*s",
                      worker->options->command[0], result.end == SANDBOX_EXIT ? "status" : "signal",
                      result.status, result.err.kept.size > 0 ? "; " : "",
                      (int)(result.err.kept.size < 400 ? result.err.kept.size : 400),
                      result.err.kept.data != NULL ? result.err.kept.data : "");
    if (error == NULL && worker->built_in != NULL && !built_in_loaded(worker->built_in))
        error = error_new("the tests load no file that has faults inside, or only into programs "
                          "that are statically linked");
    *ret_ns = result.ns;
    close_worker(worker);
    return error;
}

static struct error *run_workers(const struct worker *like, struct shared *shared, unsigned jobs,
                                 uint64_t timeout_ns)
{
    unsigned started = 0;
    for (; started < jobs; started++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            struct worker worker = *like;
            work(&worker, shared, timeout_ns);
            _exit(0);
        }
    }
    if (started == 0)
        return error_from_errno(errno, "cannot start a process");
    for (unsigned i = 0; i < started; i++)
        while (wait(NULL) < 0 && errno == EINTR)
            ;
    return shared->failed ? error_new("a sandbox for the tests cannot be had") : NULL;
}

static struct error *take(const struct worker *worker, const struct shared *shared,
                          struct score *ret_score)
{
    const struct mutate_set *set = worker->set;
    struct score score = {
        .outcomes = calloc(set->items.count + 1, sizeof *score.outcomes),
        .ns = calloc(set->items.count + 1, sizeof *score.ns),
        .plain_ns = ret_score->plain_ns,
    };
    if (score.outcomes == NULL || score.ns == NULL)
        return score_deinit(&score), error_no_memory();
    for (size_t i = 0; i < set->items.count; i++) {
        bool applicable = set->items.items[i].state == MUTATE_APPLICABLE;
        enum score_outcome outcome = shared->items[i].outcome;
        // A worker that died has left no outcome.
        score.outcomes[i] = !worker->wanted[i]      ? SCORE_NONE
                            : !applicable           ? SCORE_IGNORED
                            : !is_run(worker, i)    ? SCORE_UNREACHED
                            : outcome == SCORE_NONE ? SCORE_ERROR
                                                    : outcome;
        score.ns[i] = shared->items[i].ns;
        score.counts[score.outcomes[i]]++;
    }
    *ret_score = score;
    return NULL;
}

static void built_in_freep(struct built_in **mutants)
{
    built_in_free(*mutants);
}

struct error *score_run(const struct mutate_set *set, const bool *wanted,
                        const struct score_options *options, struct score *ret_score)
{
    _cleanup_(built_in_freep) struct built_in *built_in = NULL;
    if (set->level == &mutate_level_ir)
        TRY(built_in_new(set, &built_in));
    struct worker worker = {.set = set, .wanted = wanted, .options = options, .built_in = built_in};
    struct score score = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = options->jobs != 0 ? options->jobs : processors > 0 ? (unsigned)processors : 1;
    TRY(run_plain(&worker, &score.plain_ns));
    uint64_t timeout_ns = options->timeout_ns != 0
                              ? options->timeout_ns
                              : (built_in != NULL ? SCORE_SHORT_WAIT_NS : SCORE_WAIT_NS) +
                                    SCORE_WAIT_FACTOR * score.plain_ns * jobs;
    size_t size =
        sizeof(struct shared) + (set->items.count + 1) * sizeof((struct shared *)NULL)->items[0];
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_no_memory();
    struct error *error = run_workers(&worker, shared, jobs, timeout_ns);
    if (error == NULL)
        error = take(&worker, shared, &score);
    munmap(shared, size);
    if (error == NULL)
        *ret_score = score;
    return error;
}

void score_deinit(struct score *score)
{
    free(score->outcomes);
    free(score->ns);
    *score = (struct score){0};
}

static double share_of(const struct score *score, size_t others)
{
    size_t killed = score->counts[SCORE_KILLED] + score->counts[SCORE_TIMEOUT];
    size_t all = killed + score->counts[SCORE_SURVIVED] + others;
    return all > 0 ? (double)killed / (double)all : 1;
}

double score_share(const struct score *score)
{
    return share_of(score, score->counts[SCORE_UNREACHED]);
}

double score_share_reached(const struct score *score)
{
    return share_of(score, 0);
}
