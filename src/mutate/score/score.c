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

#define LEAST_STEPS  64 // runs in one private view; more if there are more tests
#define NO_CANDIDATE SIZE_MAX

struct worker {
    const struct mutate_set *set;
    const bool *wanted;
    const struct score_options *options;
    struct shared *shared;
    struct sandbox *sandbox;
    char *directory;            // real path of the working directory
    struct built_in *built_in;  // or NULL
    const bool *reached;        // by candidate and test; NULL: not known
    const uint64_t *timeout_ns; // by test
    bool over;                  // there are no more candidates
    // What to run next.
    size_t number; // of the candidate; NO_CANDIDATE: without a fault
    size_t test;
    bool settled; // nothing more of this candidate
    bool begun;   // in this view or run
    // of the private view
    struct sandbox_step *steps;
    size_t step;      // the next one
    const char *file; // that is changed, or NULL
    size_t changed;   // the candidate whose content it has
    bool spoiled;     // a run has left something behind in it
    // of the run
    struct buffer text;
    struct sandbox_usage usage; // when it began
    bool watched;               // the runtime is there
    bool ready;                 // the fault is where it should be
};

const char *score_outcome_word(enum score_outcome outcome)
{
    static const char *const words[SCORE_OUTCOMES] = {"none",      "killed",  "timeout", "survived",
                                                      "unreached", "ignored", "error"};
    return words[outcome];
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

static void settle(struct worker *worker, enum score_outcome outcome)
{
    worker->shared->items[worker->number].outcome = (uint8_t)outcome;
    worker->settled = outcome != SCORE_SURVIVED;
}

// A test has ended.
static void note(struct worker *worker, const struct sandbox_result *result)
{
    worker->shared->items[worker->number].ns += result->ns;
    settle(worker, outcome_of(worker, result));
    worker->test++;
}

static bool is_reached(const struct worker *worker, size_t number, size_t test)
{
    return worker->reached == NULL || worker->reached[number * worker->options->test_count + test];
}

static bool is_run(const struct worker *worker, size_t number)
{
    bool reached = false;
    for (size_t i = 0; i < worker->options->test_count && !reached; i++)
        reached = is_reached(worker, number, i);
    return reached && worker->wanted[number] &&
           worker->set->items.items[number].state == MUTATE_APPLICABLE;
}

// Goes to the next test of the candidate that reaches it, or to the next candidate; false if there
// is none. Changes nothing if that test was not begun yet.
static bool go_on(struct worker *worker)
{
    for (;;) {
        for (; worker->number != NO_CANDIDATE && !worker->settled &&
               worker->test < worker->options->test_count;
             worker->test++)
            if (is_reached(worker, worker->number, worker->test))
                return true;
        do {
            worker->number = worker->shared->next++;
            if (worker->number >= worker->set->items.count) {
                worker->number = NO_CANDIDATE;
                worker->over = true;
                return false;
            }
        } while (!is_run(worker, worker->number));
        worker->test = 0;
        worker->settled = false;
    }
}

// ---- with the runtime ----

// Called just before the tests start.
static bool begin_watched(void *data, struct sandbox *sandbox)
{
    struct worker *worker = data;
    struct error *error = built_in_begin(worker->built_in, sandbox_directory(sandbox),
                                         worker->directory, sandbox_root(sandbox));
    worker->ready = error == NULL;
    error_free(error);
    return worker->ready;
}

// Runs a test once, and switches the fault on in its processes.
static struct error *run_watched(struct worker *worker, struct sandbox_result *ret_result)
{
    struct built_in_run built_in;
    char *const *command = worker->options->tests[worker->test];
    worker->ready = false;
    TRY(built_in_prepare(worker->built_in, worker->number, command, &built_in));
    const struct sandbox_step step = {
        .command = command,
        .environment = built_in.environment,
        .input = -1,
        .timeout_ns = worker->timeout_ns[worker->test],
        .before = begin_watched,
        .data = worker,
    };
    TRY(sandbox_run(worker->sandbox, &step, 1, built_in.visible, NULL, NULL, ret_result));
    return worker->ready ? built_in_end(worker->built_in) : NULL;
}

static struct error *run_next_watched(struct worker *worker)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    if (!go_on(worker))
        return NULL;
    TRY(run_watched(worker, &result));
    worker->begun = true;
    note(worker, &result);
    return NULL;
}

// ---- with a changed file ----

static struct error *put_mutant(struct worker *worker, struct sandbox *sandbox)
{
    buffer_deinit(&worker->text);
    worker->text = (struct buffer){0};
    TRY(worker->built_in != NULL
            ? built_in_content(worker->built_in, worker->number, &worker->text)
            : worker->set->level->apply(worker->set, worker->number, &worker->text));
    return sandbox_put_file(sandbox, worker->file, &worker->text);
}

// Called just before a test starts. A view is used until a test leaves something in it, or another
// file is to be changed.
static bool begin_changed(void *data, struct sandbox *sandbox)
{
    struct worker *worker = data;
    struct sandbox_step *step = &worker->steps[worker->step++];
    if (worker->spoiled || !go_on(worker))
        return false;
    const char *file = worker->set->items.items[worker->number].changed;
    if (worker->file != NULL && strcmp(worker->file, file) != 0)
        return false;
    step->command = worker->options->tests[worker->test];
    step->timeout_ns = worker->timeout_ns[worker->test];
    bool there = worker->file != NULL && worker->changed == worker->number;
    worker->file = file;
    worker->changed = worker->number;
    worker->begun = true;
    struct error *error = there ? NULL : put_mutant(worker, sandbox);
    worker->ready = error == NULL;
    error_free(error);
    error = sandbox_usage(sandbox, &worker->usage);
    worker->spoiled = error != NULL; // not to be used again
    error_free(error);
    if (!worker->ready)
        settle(worker, SCORE_ERROR);
    return worker->ready;
}

// Called when it has ended.
static void end_changed(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    struct worker *worker = data;
    struct sandbox_usage usage = {0};
    note(worker, result);
    struct error *error = worker->spoiled ? NULL : sandbox_usage(sandbox, &usage);
    worker->spoiled |= error != NULL || usage.files != worker->usage.files ||
                       usage.blocks != worker->usage.blocks || usage.shared != worker->usage.shared;
    error_free(error);
}

// Runs tests in one private view, against one candidate after the other.
static struct error *run_view(struct worker *worker)
{
    size_t tests = worker->options->test_count, count = tests > LEAST_STEPS ? tests : LEAST_STEPS;
    _cleanup_free_ struct sandbox_step *steps = calloc(count, sizeof *steps);
    _cleanup_free_ struct sandbox_result *results = calloc(count, sizeof *results);
    if (steps == NULL || results == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) // the view depends on what the commands name
        steps[i] = (struct sandbox_step){
            .command = worker->options->tests[i % tests],
            .environment = environ,
            .input = -1,
            .before = begin_changed,
            .after = end_changed,
            .data = worker,
        };
    worker->steps = steps;
    worker->step = 0;
    worker->file = NULL;
    worker->spoiled = false;
    struct error *error = sandbox_run(worker->sandbox, steps, count, NULL, NULL, NULL, results);
    for (size_t i = 0; i < count; i++)
        sandbox_result_deinit(&results[i]);
    return error;
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

static void work(struct worker *worker)
{
    struct error *error = open_worker(worker);
    if (error != NULL)
        worker->shared->failed = true;
    worker->watched = error == NULL && sandbox_kind(worker->sandbox) == SANDBOX_NONE;
    worker->number = NO_CANDIDATE;
    while (error == NULL && !worker->over) {
        worker->begun = false;
        struct error *failure = worker->watched ? run_next_watched(worker) : run_view(worker);
        // The run failed, or there was no view for it.
        if (failure != NULL && (worker->begun ? worker->number != NO_CANDIDATE : go_on(worker)))
            settle(worker, SCORE_ERROR);
        error_free(failure);
    }
    error_free(error);
    close_worker(worker);
}

// ---- without a fault ----

static struct error *run_plain_test(struct worker *worker, uint64_t *ret_ns)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    char *const *command = worker->options->tests[worker->test];
    const struct sandbox_step step = {.command = command,
                                      .environment = environ,
                                      .input = -1,
                                      .timeout_ns = worker->options->timeout_ns};
    TRY(worker->built_in != NULL
            ? run_watched(worker, &result)
            : sandbox_run(worker->sandbox, &step, 1, NULL, NULL, NULL, &result));
    *ret_ns = result.ns;
    if (result.end == SANDBOX_EXIT && result.status == 0)
        return NULL;
    const char *name = command[0];
    if (worker->options->named && command[1] != NULL && command[2] != NULL)
        name = command[2];
    if (result.end == SANDBOX_TIMEOUT)
        return error_new("without a fault, '%s' does not end within the time limit", name);
    return error_new("the tests fail without a fault: '%s' ends with %s %d%s%.*s", name,
                     result.end == SANDBOX_EXIT ? "status" : "signal", result.status,
                     result.err.kept.size > 0 ? "; " : "",
                     (int)(result.err.kept.size < 400 ? result.err.kept.size : 400),
                     result.err.kept.data != NULL ? result.err.kept.data : "");
}

// The tests without a fault, in the same surroundings: how long each takes, and what it reaches.
static struct error *run_plain(struct worker *worker, uint64_t *ret_ns, bool *reached)
{
    size_t tests = worker->options->test_count;
    worker->number = NO_CANDIDATE;
    TRY(open_worker(worker));
    for (worker->test = 0; worker->test < tests; worker->test++) {
        TRY(run_plain_test(worker, &ret_ns[worker->test]));
        for (size_t i = 0; i < worker->set->items.count && worker->built_in != NULL; i++)
            reached[i * tests + worker->test] = built_in_reached(worker->built_in, i);
        if (worker->built_in != NULL)
            built_in_forget(worker->built_in);
    }
    return worker->built_in == NULL || built_in_loaded(worker->built_in)
               ? NULL
               : error_new("the tests load no file that has faults inside, or only into programs "
                           "that are statically linked");
}

static struct error *run_workers(const struct worker *like, unsigned jobs)
{
    unsigned started = 0;
    for (; started < jobs; started++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            struct worker worker = *like;
            work(&worker);
            _exit(0);
        }
    }
    if (started == 0)
        return error_from_errno(errno, "cannot start a process");
    for (unsigned i = 0; i < started; i++)
        while (wait(NULL) < 0 && errno == EINTR)
            ;
    return like->shared->failed ? error_new("a sandbox for the tests cannot be had") : NULL;
}

static struct error *take(const struct worker *worker, struct score *ret_score)
{
    const struct shared *shared = worker->shared;
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

static struct error *run_all(struct worker *worker, unsigned jobs, struct score *score)
{
    size_t count = worker->set->items.count;
    size_t size = sizeof(struct shared) + (count + 1) * sizeof worker->shared->items[0];
    worker->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (worker->shared == MAP_FAILED)
        return error_no_memory();
    struct error *error = run_workers(worker, jobs);
    if (error == NULL)
        error = take(worker, score);
    munmap(worker->shared, size);
    return error;
}

// A limit for each test that leaves room for what a fault or other work on the machine costs.
static void set_limits(const struct worker *worker, unsigned jobs, uint64_t *ns)
{
    uint64_t wait_ns = worker->built_in != NULL ? SCORE_SHORT_WAIT_NS : SCORE_WAIT_NS;
    for (size_t i = 0; i < worker->options->test_count; i++)
        ns[i] = worker->options->timeout_ns != 0 ? worker->options->timeout_ns
                                                 : wait_ns + SCORE_WAIT_FACTOR * ns[i] * jobs;
}

struct error *score_run(const struct mutate_set *set, const bool *wanted,
                        const struct score_options *options, struct score *ret_score)
{
    _cleanup_(built_in_freep) struct built_in *built_in = NULL;
    _cleanup_free_ uint64_t *ns = calloc(options->test_count + 1, sizeof *ns);
    _cleanup_free_ bool *reached =
        calloc((set->items.count + 1) * (options->test_count + 1), sizeof *reached);
    struct score score = {0};
    if (ns == NULL || reached == NULL)
        return error_no_memory();
    if (set->level == &mutate_level_ir)
        TRY(built_in_new(set, &built_in));
    struct worker worker = {
        .set = set, .wanted = wanted, .options = options, .built_in = built_in, .timeout_ns = ns};
    for (size_t i = 0; i < options->test_count; i++)
        ns[i] = options->timeout_ns;
    struct error *error = run_plain(&worker, ns, reached);
    close_worker(&worker);
    TRY(error);
    worker = (struct worker){.set = set,
                             .wanted = wanted,
                             .options = options,
                             .built_in = built_in,
                             .reached = built_in != NULL ? reached : NULL,
                             .timeout_ns = ns};
    for (size_t i = 0; i < options->test_count; i++)
        score.plain_ns += ns[i];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = options->jobs != 0 ? options->jobs : processors > 0 ? (unsigned)processors : 1;
    set_limits(&worker, jobs, ns);
    error = run_all(&worker, jobs, &score);
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
