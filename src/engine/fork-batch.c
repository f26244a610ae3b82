// SPDX-License-Identifier: GPL-3.0-or-later
// Forks trials off shared runs of the workload, checks a sample of them by full runs, and runs in
// full what could not be forked.
#include "engine/fork-batch.h"

#include "base/cleanup.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED_OF 10 // one trial of so many is checked

enum fork_state { WAITING, FORKED, REFUSED };

struct batch_run {
    const struct fork_batch *batch;
    struct engine_result *results;
    enum fork_state *states;
    uint32_t *inputs; // of the jobs
    uint32_t input;   // of this run
    size_t *indexes;  // of the jobs in this run
    struct error *error;
    size_t reached; // jobs that this run has reached
};

bool fork_batch_checks(uint64_t seed)
{
    return seed % CHECKED_OF == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

// Times and addresses may differ, and the end of stderr is for people only.
bool fork_batch_agrees(const struct engine_result *forked, const struct engine_result *full)
{
    return forked->judgement.verdict == full->judgement.verdict && forked->end == full->end &&
           forked->status == full->status && forked->changed == full->changed &&
           (forked->observation.activations != 0) == (full->observation.activations != 0) &&
           same_text(forked->observation.crash_key, full->observation.crash_key) &&
           same_text(forked->judgement.cause, full->judgement.cause);
}

static bool is_stopped(const struct batch_run *run)
{
    return run->batch->stopped(run->batch->data);
}

static void begun(void *data, size_t index)
{
    const struct batch_run *run = data;
    run->batch->running(run->batch->data, &run->batch->jobs[run->indexes[index]]);
}

static void refused(void *data, size_t index)
{
    struct batch_run *run = data;
    run->batch->running(run->batch->data, NULL);
    run->states[run->indexes[index]] = REFUSED;
    run->reached++;
}

static bool ended(void *data, size_t index, struct outcome_run *outcome)
{
    struct batch_run *run = data;
    size_t job = run->indexes[index];
    struct engine_result result = {0};
    for (size_t i = 0; i < outcome->artifacts.count; i++)
        if (reference_wants_decoding(run->batch->reference, &outcome->artifacts.items[i])) {
            refused(data, index); // other programs cannot be run while the workload waits
            return !is_stopped(run);
        }
    struct error *error = run->batch->judge(run->batch->data, outcome, &result);
    run->batch->running(run->batch->data, NULL);
    if (error != NULL) {
        engine_result_deinit(&result);
        run->error = error;
        return false;
    }
    result.way = WAY_FORKED;
    run->results[job] = result;
    run->states[job] = FORKED;
    run->reached++;
    return !is_stopped(run);
}

// Whether the workload itself did what it does without faults. If not, what its children did means
// nothing. A workload that was ended by us or by the filter of system calls did not get that far.
static struct error *is_sound(const struct batch_run *run, const struct outcome_run *outcome,
                              bool *ret_sound)
{
    const struct sandbox_result *workload = &outcome->workload;
    *ret_sound = true;
    if (is_stopped(run) || (workload->end == SANDBOX_SIGNAL && workload->status == SIGSYS))
        return NULL;
    struct difference difference = {0};
    TRY(reference_compare(reference_of(run->batch->reference, outcome->input), outcome,
                          &difference));
    *ret_sound = workload->end == SANDBOX_EXIT && !difference.status && !difference.out &&
                 !difference.files && !difference.left;
    difference_deinit(&difference);
    return NULL;
}

static void forget_forks(struct batch_run *run, bool of_all_inputs)
{
    for (size_t i = 0; i < run->batch->count; i++) {
        if (run->states[i] != FORKED || (!of_all_inputs && run->inputs[i] != run->input))
            continue;
        engine_result_deinit(&run->results[i]);
        run->states[i] = REFUSED;
    }
}

// Runs the workload once for all trials that wait and have this run's input. *ret_more: another run
// is worth it.
static struct error *run_once(struct batch_run *run, struct fork_shot *shots, bool *ret_more)
{
    const struct fork_batch *batch = run->batch;
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (run->states[i] == WAITING && run->inputs[i] == run->input) {
            shots[count] = (struct fork_shot){batch->jobs[i].spec, batch->jobs[i].seed};
            run->indexes[count++] = i;
        }
    *ret_more = false;
    if (count < FORK_BATCH_LEAST)
        return NULL;
    run->reached = 0;
    const struct shooting_branches branches = {.shots = shots,
                                               .count = count,
                                               .begun = begun,
                                               .ended = ended,
                                               .refused = refused,
                                               .data = run};
    _cleanup_(outcome_run_deinit) struct outcome_run outcome = {0};
    enum wire_fork_refusal refusal;
    struct error *error = shooting_branch(
        batch->shooting, &branches, reference_timeout_ns(batch->reference), &outcome, &refusal);
    batch->running(batch->data, NULL); // if its copy did not end, it was ended with it
    TRY(error);
    if (run->error != NULL)
        return TAKE(run->error);
    bool sound;
    TRY(is_sound(run, &outcome, &sound));
    if (!sound)
        forget_forks(run, false);
    *ret_more = sound && run->reached > 0 && outcome.workload.end == SANDBOX_SIGNAL &&
                outcome.workload.status == SIGSYS && !is_stopped(run);
    for (size_t i = 0; i < batch->count && refusal != WIRE_FORK_OK; i++)
        if (run->states[i] != FORKED && run->inputs[i] == run->input)
            run->results[i].refusal = refusal;
    return NULL;
}

// Runs the checked trials in full, too.
static struct error *check(struct batch_run *run, bool *ret_trusted)
{
    const struct fork_batch *batch = run->batch;
    bool pending = batch->first;
    *ret_trusted = true;
    for (size_t i = 0; i < batch->count && !is_stopped(run); i++) {
        if (run->states[i] != FORKED || (!pending && !fork_batch_checks(batch->jobs[i].seed)))
            continue;
        pending = false;
        struct engine_result full = {0};
        TRY(batch->shoot(batch->data, &batch->jobs[i], &full));
        bool agrees = fork_batch_agrees(&run->results[i], &full);
        run->results[i].way = WAY_CHECKED;
        if (!agrees) {
            engine_result_deinit(&run->results[i]);
            run->results[i] = full;
            run->results[i].way = WAY_DISPUTED;
            run->states[i] = WAITING; // it has a full result: forget_forks() must not drop it
            *ret_trusted = false;
        } else {
            engine_result_deinit(&full);
        }
    }
    return NULL;
}

// Runs in full what was not forked, until the rest is withdrawn.
static struct error *run_rest(const struct batch_run *run)
{
    const struct fork_batch *batch = run->batch;
    for (size_t i = 0; i < batch->count; i++) {
        struct engine_result *result = &run->results[i];
        if (run->states[i] == FORKED || result->way == WAY_DISPUTED)
            continue;
        enum wire_fork_refusal refusal = result->refusal;
        *result = (struct engine_result){.way = WAY_NOT_RUN};
        if (is_stopped(run))
            continue;
        TRY(batch->shoot(batch->data, &batch->jobs[i], result));
        result->way = WAY_REFUSED;
        result->refusal = refusal;
    }
    return NULL;
}

// Each input that a job has, once.
static struct error *run_inputs(struct batch_run *run, struct fork_shot *shots)
{
    const struct fork_batch *batch = run->batch;
    for (size_t i = 0; i < batch->count; i++)
        TRY(shooting_input_of(batch->shooting, batch->jobs[i].spec, batch->jobs[i].seed,
                              &run->inputs[i]));
    for (size_t i = 0; i < batch->count; i++) {
        size_t same = 0;
        while (run->inputs[same] != run->inputs[i])
            same++;
        run->input = run->inputs[i];
        for (bool more = same == i; more;)
            TRY(run_once(run, shots, &more));
    }
    return NULL;
}

struct error *fork_batch_run(const struct fork_batch *batch, struct engine_result *results,
                             bool *ret_trusted)
{
    _cleanup_free_ enum fork_state *states = calloc(batch->count + 1, sizeof *states);
    _cleanup_free_ size_t *indexes = calloc(batch->count + 1, sizeof *indexes);
    _cleanup_free_ struct fork_shot *shots = calloc(batch->count + 1, sizeof *shots);
    _cleanup_free_ uint32_t *inputs = calloc(batch->count + 1, sizeof *inputs);
    if (states == NULL || indexes == NULL || shots == NULL || inputs == NULL)
        return error_no_memory();
    struct batch_run run = {
        .batch = batch, .results = results, .states = states, .inputs = inputs, .indexes = indexes};
    TRY(run_inputs(&run, shots));
    TRY(check(&run, ret_trusted));
    if (!*ret_trusted)
        forget_forks(&run, true);
    return run_rest(&run);
}
