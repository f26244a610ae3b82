// SPDX-License-Identifier: GPL-3.0-or-later
// The schedule of a sweep. Every series goes to its next position until a trial is not activated:
// the program no longer gets that far. With few series this would leave job slots idle, so later
// positions are tried ahead. Results beyond the end are dropped, and results are stored in the
// order of positions. So the trials in the store do not depend on how many ran at once. The
// candidate of a position is stored together with its first result, so that a kill leaves no half
// of it.
#include "campaign/schedule.h"

#include "base/cleanup.h"
#include "base/secrets.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_MOST     10000
#define AHEAD          64 // positions of one series that run: a hang must not fill memory
#define INVALID_IN_ROW 10 // a series is given up after so many positions that could not run

struct early_result { // waits until earlier positions are stored
    struct trial_job job;
    struct engine_result result;
};

struct sweep_step { // one position
    struct candidate candidate;
    int64_t row; // 0: not stored
    uint64_t number;
    uint64_t given, finished; // number of repetitions
    bool *repeated;           // which repetitions are done
    bool activated, valid;
    ARRAY(struct early_result) waiting;
};

struct series {
    ARRAY(struct sweep_step) steps; // the first is the oldest undecided one
    bool ended, queued;
    unsigned invalid; // positions in a row
};

struct sweep {
    struct schedule_options options;
    ARRAY(struct series) series;
    uint64_t repeat, most;
    ARRAY(size_t) queue; // series whose next position may be tried, from queue_at on
    size_t queue_at;
};

static void step_deinit(struct sweep_step *step)
{
    candidate_deinit(&step->candidate);
    free(step->repeated);
    for (size_t i = 0; i < step->waiting.count; i++) {
        trial_job_deinit(&step->waiting.items[i].job);
        engine_result_deinit(&step->waiting.items[i].result);
    }
    ARRAY_DEINIT(&step->waiting);
}

static void series_deinit(struct series *series)
{
    for (size_t i = 0; i < series->steps.count; i++)
        step_deinit(&series->steps.items[i]);
    ARRAY_DEINIT(&series->steps);
}

static void sweep_free(void *self)
{
    struct sweep *sweep = self;
    if (sweep == NULL)
        return;
    for (size_t i = 0; i < sweep->series.count; i++)
        series_deinit(&sweep->series.items[i]);
    ARRAY_DEINIT(&sweep->series);
    ARRAY_DEINIT(&sweep->queue);
    free(sweep);
}

static void sweep_freep(struct sweep **sweep)
{
    sweep_free(*sweep);
}

static struct error *copy_text(const char *text, char **ret_text)
{
    *ret_text = text != NULL ? strdup(text) : NULL;
    return text != NULL && *ret_text == NULL ? error_no_memory() : NULL;
}

static struct error *copy_candidate(const struct store_candidate *row, struct candidate *candidate)
{
    candidate->line = row->line;
    candidate->position = row->position;
    candidate->weight = row->weight;
    TRY(copy_text(row->spec, &candidate->spec));
    TRY(secrets_restore(&candidate->spec));
    TRY(copy_text(row->type, &candidate->type));
    TRY(copy_text(row->function, &candidate->function));
    TRY(copy_text(row->module, &candidate->module));
    TRY(copy_text(row->file, &candidate->file));
    TRY(copy_text(row->component, &candidate->component));
    return copy_text(row->series, &candidate->series);
}

static struct error *step_add(struct sweep *sweep, struct series *series,
                              struct sweep_step **ret_step)
{
    bool *repeated = calloc((size_t)sweep->repeat, sizeof *repeated);
    struct sweep_step *step = repeated != NULL ? ARRAY_ADD(&series->steps) : NULL;
    if (step == NULL) {
        free(repeated);
        return error_no_memory();
    }
    step->repeated = repeated;
    *ret_step = step;
    return NULL;
}

static void drop_step(struct series *series, size_t index)
{
    step_deinit(&series->steps.items[index]);
    series->steps.count--;
    memmove(&series->steps.items[index], &series->steps.items[index + 1],
            (series->steps.count - index) * sizeof *series->steps.items);
}

static struct error *enqueue(struct sweep *sweep, size_t index)
{
    if (sweep->queue_at > 1024 && sweep->queue_at * 2 > sweep->queue.count) {
        sweep->queue.count -= sweep->queue_at;
        memmove(sweep->queue.items, sweep->queue.items + sweep->queue_at,
                sweep->queue.count * sizeof *sweep->queue.items);
        sweep->queue_at = 0;
    }
    size_t *entry = ARRAY_ADD(&sweep->queue);
    if (entry == NULL)
        return error_no_memory();
    *entry = index;
    sweep->series.items[index].queued = true;
    return NULL;
}

// Candidates are read by number. With S series, the first positions have the numbers 1 to S, and
// each later position has a number S higher. S is not stored. It is found where the numbers stop
// being consecutive or the first series comes again.
static struct error *load_candidate(void *data, const struct store_candidate *row)
{
    struct sweep *sweep = data;
    if (!row->selected)
        return NULL;
    size_t count = sweep->series.count;
    const struct series *first = count > 0 ? &sweep->series.items[0] : NULL;
    const char *series_name = row->series != NULL ? row->series : "";
    struct series *series = NULL;
    bool opening = row->number == count + 1;
    if (opening && first != NULL) {
        const char *name = first->steps.items[0].candidate.series;
        opening = strcmp(name != NULL ? name : "", series_name) != 0;
    }
    if (opening) {
        series = ARRAY_ADD(&sweep->series);
        if (series == NULL)
            return error_no_memory();
    } else if (count > 0) {
        series = &sweep->series.items[(row->number - 1) % count];
        drop_step(series, 0); // a later position exists, so this one is decided
    } else {
        return error_new("the store's first candidate has the number %llu",
                         (unsigned long long)row->number);
    }
    struct sweep_step *step = NULL;
    TRY(step_add(sweep, series, &step));
    step->row = row->id;
    step->number = row->number;
    return copy_candidate(row, &step->candidate);
}

static void note_result(struct sweep_step *step, enum verdict verdict, uint64_t activations)
{
    step->finished++;
    step->activated |= activations > 0;
    step->valid |= verdict != VERDICT_INVALID;
}

static struct error *load_trial(void *data, const struct store_trial *row)
{
    struct sweep *sweep = data;
    if (row->number == 0 || sweep->series.count == 0)
        return NULL;
    uint64_t number = (row->number - 1) / sweep->repeat + 1;
    struct sweep_step *step =
        &sweep->series.items[(number - 1) % sweep->series.count].steps.items[0];
    uint64_t round = (row->number - 1) % sweep->repeat;
    if (step->number != number || step->repeated[round])
        return NULL;
    step->repeated[round] = true;
    note_result(step, row->verdict, row->activations);
    return NULL;
}

// Whether the oldest step is the last of its series. All its repetitions are done. An invalid trial
// does not say how far the program gets.
static bool is_last(struct series *series, const struct sweep_step *step)
{
    if (step->activated) {
        series->invalid = 0;
        return false;
    }
    if (step->valid)
        return true;
    return ++series->invalid >= INVALID_IN_ROW;
}

static struct error *sweep_load(const struct schedule_options *options, void **ret_self)
{
    if (options->injector->sweep == NULL)
        return error_new("the injector '%s' cannot sweep", options->injector->name);
    _cleanup_(sweep_freep) struct sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep == NULL)
        return error_no_memory();
    sweep->options = *options;
    sweep->repeat = options->definition->selection.repeat;
    sweep->most = options->definition->selection.most;
    if (sweep->most == 0)
        sweep->most = USUAL_MOST;
    TRY(store_each_candidate(options->store, options->campaign, 0, 0, load_candidate, sweep));
    TRY(store_each_trial(options->store, options->campaign, false, load_trial, sweep));
    for (size_t i = 0; i < sweep->series.count; i++) {
        struct series *series = &sweep->series.items[i];
        const struct sweep_step *step = &series->steps.items[0];
        series->ended = step->finished == sweep->repeat && is_last(series, step);
        if (!series->ended)
            TRY(enqueue(sweep, i));
    }
    *ret_self = TAKE(sweep);
    return NULL;
}

static uint64_t sweep_planned(const void *self)
{
    return 0;
}

// Adds the position after the last known one, if there is one. A decided step is kept until then,
// because the next position is derived from it.
static struct error *advance(struct sweep *sweep, struct series *series, bool *ret_advanced)
{
    const struct sweep_step *last = &series->steps.items[series->steps.count - 1];
    uint64_t number = last->number + sweep->series.count;
    *ret_advanced = false;
    if (last->candidate.position >= sweep->most)
        return NULL;
    _cleanup_(candidate_deinit) struct candidate candidate = {0};
    TRY(sweep->options.injector->sweep->next(sweep->options.injector_self, &last->candidate,
                                             &candidate));
    if (candidate.spec == NULL)
        return NULL;
    struct sweep_step *step = NULL;
    TRY(step_add(sweep, series, &step));
    step->candidate = candidate;
    candidate = (struct candidate){0};
    step->number = number;
    if (series->steps.items[0].finished == sweep->repeat)
        drop_step(series, 0);
    *ret_advanced = true;
    return NULL;
}

// Takes a repetition of the series' newest position, or the first one of the next position.
static struct error *take_from(struct sweep *sweep, size_t index, bool *ret_got,
                               struct trial_job *ret_job)
{
    struct series *series = &sweep->series.items[index];
    *ret_got = false;
    struct sweep_step *step = &series->steps.items[series->steps.count - 1];
    while (step->given < sweep->repeat && step->repeated[step->given])
        step->given++;
    if (step->given == sweep->repeat) {
        bool advanced;
        TRY(advance(sweep, series, &advanced));
        if (!advanced)
            return NULL;
        step = &series->steps.items[series->steps.count - 1];
    }
    struct trial_job job = {
        .candidate = step->row,
        .candidate_number = step->number,
        .number = (step->number - 1) * sweep->repeat + step->given + 1,
        .series = index,
        .step = step->number,
    };
    job.seed = trial_seed(sweep->options.definition->seed, job.number);
    TRY(copy_text(step->candidate.spec, &job.spec));
    step->given++;
    *ret_job = job;
    *ret_got = true;
    return NULL;
}

// Tries a position ahead, of the series with the fewest running positions.
static struct error *take_ahead(struct sweep *sweep, bool *ret_got, struct trial_job *ret_job)
{
    size_t fewest = AHEAD, chosen = SIZE_MAX;
    for (size_t i = 0; i < sweep->series.count; i++) {
        const struct series *series = &sweep->series.items[i];
        if (series->ended || series->steps.count >= fewest ||
            series->steps.items[series->steps.count - 1].candidate.position >= sweep->most)
            continue;
        fewest = series->steps.count;
        chosen = i;
    }
    return chosen < SIZE_MAX ? take_from(sweep, chosen, ret_got, ret_job) : NULL;
}

static struct error *sweep_next(void *self, bool *ret_got, struct trial_job *ret_job)
{
    struct sweep *sweep = self;
    *ret_got = false;
    while (sweep->queue_at < sweep->queue.count) {
        size_t index = sweep->queue.items[sweep->queue_at];
        struct series *series = &sweep->series.items[index];
        TRY(take_from(sweep, index, ret_got, ret_job));
        const struct sweep_step *step = &series->steps.items[series->steps.count - 1];
        bool more = *ret_got && step->given < sweep->repeat;
        if (!more) {
            sweep->queue_at++;
            series->queued = false;
        }
        if (!*ret_got)
            series->ended = true; // there are no more positions
        else
            return NULL;
    }
    return take_ahead(sweep, ret_got, ret_job);
}

static struct sweep_step *find_step(struct series *series, uint64_t number)
{
    for (size_t i = 0; i < series->steps.count; i++)
        if (series->steps.items[i].number == number)
            return &series->steps.items[i];
    return NULL;
}

static struct error *keep_waiting(struct sweep_step *step, schedule_keep keep, void *data)
{
    struct error *error = NULL;
    for (size_t i = 0; i < step->waiting.count; i++) {
        struct early_result *waiting = &step->waiting.items[i];
        waiting->job.candidate = step->row;
        if (error == NULL)
            error = keep(data, &waiting->job, step->row == 0 ? &step->candidate : NULL,
                         &waiting->result);
        step->row = waiting->job.candidate;
        note_result(step, waiting->result.judgement.verdict,
                    waiting->result.observation.activations);
        trial_job_deinit(&waiting->job);
        engine_result_deinit(&waiting->result);
    }
    step->waiting.count = 0;
    return error;
}

// Stores results in order, from the oldest position on, and decides whether the series goes on.
static struct error *settle(struct sweep *sweep, size_t index, schedule_keep keep, void *data)
{
    struct series *series = &sweep->series.items[index];
    for (;;) {
        struct sweep_step *step = &series->steps.items[0];
        TRY(keep_waiting(step, keep, data));
        if (step->finished < sweep->repeat)
            return NULL;
        if (is_last(series, step)) {
            series->ended = true;
            while (series->steps.count > 1)
                drop_step(series, 1);
            return NULL;
        }
        if (series->steps.count == 1)
            return series->queued ? NULL : enqueue(sweep, index);
        drop_step(series, 0);
    }
}

static struct error *sweep_done(void *self, struct trial_job *job, struct engine_result *result,
                                schedule_keep keep, void *data)
{
    struct sweep *sweep = self;
    size_t index = job->series;
    struct series *series = &sweep->series.items[index];
    struct sweep_step *step = series->ended ? NULL : find_step(series, job->step);
    struct early_result *waiting = step != NULL ? ARRAY_ADD(&step->waiting) : NULL;
    if (waiting == NULL) {
        trial_job_deinit(job);
        engine_result_deinit(result);
        return step != NULL ? error_no_memory() : NULL;
    }
    *waiting = (struct early_result){.job = *job, .result = *result};
    *job = (struct trial_job){0};
    *result = (struct engine_result){0};
    return settle(sweep, index, keep, data);
}

const struct schedule_kind schedule_sweep = {
    .load = sweep_load,
    .free = sweep_free,
    .planned = sweep_planned,
    .next = sweep_next,
    .done = sweep_done,
};
