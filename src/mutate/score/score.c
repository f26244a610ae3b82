// SPDX-License-Identifier: GPL-3.0-or-later
// Workers take candidates one by one and write outcomes into shared memory. A file that is changed
// is newer than what was built of it, so `make` and its like build what is needed.
#include "mutate/score/score.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
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
    char *directory; // real path of the working directory
    // of the run
    const char *file;
    struct buffer text;
    bool written;
};

const char *score_outcome_word(enum score_outcome outcome)
{
    static const char *const words[SCORE_OUTCOMES] = {"none",     "killed",  "timeout",
                                                      "survived", "ignored", "error"};
    return words[outcome];
}

// The file as the inside has it: below the working directory, which may be a copy, or elsewhere.
static char *path_inside(const struct worker *worker, struct sandbox *sandbox)
{
    _cleanup_free_ char *real = realpath(worker->file, NULL);
    char *path = NULL;
    size_t size = strlen(worker->directory);
    if (real == NULL)
        return NULL;
    bool below = strncmp(real, worker->directory, size) == 0 && real[size] == '/';
    if (!below && sandbox_kind(sandbox) != SANDBOX_OVERLAY)
        return NULL; // it would be the user's own
    int printed = below ? asprintf(&path, "%s%s%s", sandbox_root(sandbox),
                                   sandbox_directory(sandbox), real + size)
                        : asprintf(&path, "%s%s", sandbox_root(sandbox), real);
    return printed >= 0 ? path : NULL;
}

static bool put_mutant(void *data, struct sandbox *sandbox)
{
    struct worker *worker = data;
    if (worker->file == NULL)
        return worker->written = true;
    _cleanup_free_ char *path = path_inside(worker, sandbox);
    _cleanup_close_ int file = path != NULL ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;
    worker->written = file >= 0 && write(file, worker->text.data, worker->text.size) ==
                                       (ssize_t)worker->text.size;
    return worker->written;
}

static struct error *run_tests(struct worker *worker, uint64_t timeout_ns,
                               struct sandbox_result *ret_result)
{
    const struct sandbox_step step = {
        .command = worker->options->command,
        .environment = environ,
        .input = -1,
        .timeout_ns = timeout_ns,
        .before = put_mutant,
        .data = worker,
    };
    return sandbox_run(worker->sandbox, &step, 1, NULL, NULL, NULL, ret_result);
}

static enum score_outcome outcome_of(const struct worker *worker,
                                     const struct sandbox_result *result)
{
    if (!worker->written || result->end == SANDBOX_SKIPPED)
        return SCORE_ERROR;
    if (result->end == SANDBOX_TIMEOUT)
        return SCORE_TIMEOUT;
    return result->end == SANDBOX_EXIT && result->status == 0 ? SCORE_SURVIVED : SCORE_KILLED;
}

static struct error *run_one(struct worker *worker, size_t number, uint64_t timeout_ns,
                             uint8_t *ret_outcome, uint64_t *ret_ns)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    worker->file = worker->set->items.items[number].changed;
    worker->written = false;
    buffer_deinit(&worker->text);
    worker->text = (struct buffer){0};
    TRY(worker->set->level->apply(worker->set, number, &worker->text));
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
        .kind = SANDBOX_AUTO, .directory = worker->directory, .capture_limit = 4096};
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
    return worker->wanted[number] && worker->set->items.items[number].state == MUTATE_APPLICABLE;
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
    if (error == NULL)
        error = run_tests(worker, worker->options->timeout_ns, &result);
    if (error == NULL && (result.end != SANDBOX_EXIT || result.status != 0))
        error =
            error_new("the tests fail without a fault: '%s' ends with %s %d%s%.*s",
                      worker->options->command[0], result.end == SANDBOX_EXIT ? "status" : "signal",
                      result.status, result.err.kept.size > 0 ? "; " : "",
                      (int)(result.err.kept.size < 400 ? result.err.kept.size : 400),
                      result.err.kept.data != NULL ? result.err.kept.data : "");
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
            struct worker worker = {like->set, like->wanted, like->options, NULL,
                                    NULL,      NULL,         {0},           false};
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

static struct error *take(const struct mutate_set *set, const bool *wanted,
                          const struct shared *shared, struct score *ret_score)
{
    struct score score = {
        .outcomes = calloc(set->items.count + 1, sizeof *score.outcomes),
        .ns = calloc(set->items.count + 1, sizeof *score.ns),
        .plain_ns = ret_score->plain_ns,
    };
    if (score.outcomes == NULL || score.ns == NULL)
        return score_deinit(&score), error_no_memory();
    for (size_t i = 0; i < set->items.count; i++) {
        bool run = set->items.items[i].state == MUTATE_APPLICABLE;
        enum score_outcome outcome = shared->items[i].outcome;
        // A worker that died has left no outcome.
        score.outcomes[i] = !wanted[i]              ? SCORE_NONE
                            : !run                  ? SCORE_IGNORED
                            : outcome == SCORE_NONE ? SCORE_ERROR
                                                    : outcome;
        score.ns[i] = shared->items[i].ns;
        score.counts[score.outcomes[i]]++;
    }
    *ret_score = score;
    return NULL;
}

struct error *score_run(const struct mutate_set *set, const bool *wanted,
                        const struct score_options *options, struct score *ret_score)
{
    struct worker worker = {.set = set, .wanted = wanted, .options = options};
    struct score score = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = options->jobs != 0 ? options->jobs : processors > 0 ? (unsigned)processors : 1;
    TRY(run_plain(&worker, &score.plain_ns));
    uint64_t timeout_ns = options->timeout_ns != 0
                              ? options->timeout_ns
                              : SCORE_WAIT_NS + SCORE_WAIT_FACTOR * score.plain_ns * jobs;
    size_t size =
        sizeof(struct shared) + (set->items.count + 1) * sizeof((struct shared *)NULL)->items[0];
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_no_memory();
    struct error *error = run_workers(&worker, shared, jobs, timeout_ns);
    if (error == NULL)
        error = take(set, wanted, shared, &score);
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

double score_share(const struct score *score)
{
    size_t killed = score->counts[SCORE_KILLED] + score->counts[SCORE_TIMEOUT];
    size_t all = killed + score->counts[SCORE_SURVIVED];
    return all > 0 ? (double)killed / (double)all : 1;
}
