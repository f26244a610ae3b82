// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses between the two kinds of schedule, and implements the common one: a list of the selected
// candidates. The order is random, so that the trials finished at any moment are a uniform sample.
// The definition may ask for the injector's order instead.
#include "campaign/schedule.h"

#include "base/cleanup.h"
#include "base/secrets.h"
#include "campaign/second-faults.h"
#include "campaign/trial-order.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_STREAM (UINT64_MAX - 1) // of random numbers; trials use those from 1 on

struct schedule {
    const struct schedule_kind *kind;
    void *self;
};

void trial_job_deinit(struct trial_job *job)
{
    free(job->spec);
    job->spec = NULL;
}

uint64_t trial_seed(uint64_t campaign_seed, uint64_t number)
{
    struct stats_random random = stats_random_start(campaign_seed, number);
    return stats_random_next(&random) & UINT32_MAX; // short enough to be typed again
}

struct error *schedule_load(const struct schedule_options *options, struct schedule **ret_schedule)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL)
        return error_no_memory();
    bool sweep = options->definition->selection.kind == SELECT_SWEEP;
    schedule->kind = sweep ? &schedule_sweep : &schedule_list;
    struct error *error = schedule->kind->load(options, &schedule->self);
    if (error != NULL) {
        free(schedule);
        return error;
    }
    *ret_schedule = schedule;
    return NULL;
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL)
        return;
    schedule->kind->free(schedule->self);
    free(schedule);
}

uint64_t schedule_planned(const struct schedule *schedule)
{
    return schedule->kind->planned(schedule->self);
}

struct error *schedule_next(struct schedule *schedule, bool *ret_got, struct trial_job *ret_job)
{
    return schedule->kind->next(schedule->self, ret_got, ret_job);
}

struct error *schedule_done(struct schedule *schedule, struct trial_job *job,
                            struct engine_result *result, schedule_keep keep, void *data)
{
    return schedule->kind->done(schedule->self, job, result, keep, data);
}

struct error *schedule_skip(struct schedule *schedule, const struct trial_job *job,
                            schedule_keep keep, void *data)
{
    return schedule->kind->skip != NULL ? schedule->kind->skip(schedule->self, job, keep, data)
                                        : NULL;
}

struct error *schedule_flush(struct schedule *schedule, schedule_keep keep, void *data)
{
    return schedule->kind->flush != NULL ? schedule->kind->flush(schedule->self, keep, data) : NULL;
}

size_t schedule_held(const struct schedule *schedule)
{
    return schedule->kind->held != NULL ? schedule->kind->held(schedule->self) : 0;
}

// The list holds numbers only. A candidate is read when its turn comes.
struct list_item {
    uint64_t key; // sorts the list: random, or 0 for what comes first
    uint64_t number;
    bool running; // with selection.until_activated: a trial of it has no result yet
};

struct list {
    struct schedule_options options;
    ARRAY(struct list_item) items;
    uint64_t highest;        // number
    unsigned char *finished; // bit per trial number
    bool until_activated;
    uint64_t repeat, round;
    size_t at;
    struct trial_order order;
};

static uint64_t trial_number(const struct list *list, uint64_t candidate, uint64_t round)
{
    return (candidate - 1) * list->repeat + round + 1;
}

static struct error *list_row(void *data, const struct store_candidate *row)
{
    struct list *list = data;
    if (!row->selected)
        return NULL;
    struct list_item *item = ARRAY_ADD(&list->items);
    if (item == NULL)
        return error_no_memory();
    // Each candidate has its own key, so that the order does not depend on the others.
    struct stats_random random =
        stats_random_start(trial_seed(list->options.definition->seed, ORDER_STREAM), row->number);
    bool listed = list->options.definition->selection.order == ORDER_LISTED;
    // Second faults are added when it is time for them, so they go before what is left.
    bool second = row->series != NULL && strcmp(row->series, CANDIDATE_SECOND) == 0;
    *item = (struct list_item){.key = listed ? !second : stats_random_next(&random),
                               .number = row->number};
    if (row->number > list->highest)
        list->highest = row->number;
    return NULL;
}

static void finish(struct list *list, uint64_t number)
{
    if (number >= 1 && number <= list->highest * list->repeat)
        list->finished[(number - 1) / 8] |= (unsigned char)(1u << (number - 1) % 8);
}

// A candidate whose fault was activated needs no more trials.
static void finish_activated(struct list *list, uint64_t number, enum verdict verdict)
{
    uint64_t first = number - (number - 1) % list->repeat;
    if (list->until_activated && verdict != VERDICT_NOT_ACTIVATED && verdict != VERDICT_INVALID)
        for (uint64_t i = 0; i < list->repeat; i++)
            finish(list, first + i);
}

static struct error *list_trial(void *data, const struct store_trial *row)
{
    struct list *list = data;
    finish(list, row->number);
    if (row->number >= 1)
        finish_activated(list, row->number, row->verdict);
    return NULL;
}

static int compare_items(const void *a, const void *b)
{
    const struct list_item *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static void list_free(void *self)
{
    struct list *list = self;
    if (list == NULL)
        return;
    ARRAY_DEINIT(&list->items);
    trial_order_deinit(&list->order);
    free(list->finished);
    free(list);
}

static void list_freep(struct list **list)
{
    list_free(*list);
}

static struct error *list_load(const struct schedule_options *options, void **ret_self)
{
    _cleanup_(list_freep) struct list *list = calloc(1, sizeof *list);
    if (list == NULL)
        return error_no_memory();
    list->options = *options;
    list->repeat = options->definition->selection.repeat;
    list->until_activated = options->definition->selection.until_activated;
    TRY(store_each_candidate(options->store, options->campaign, 0, 0, list_row, list));
    if (list->highest > SIZE_MAX / 2 / list->repeat)
        return error_new("%llu candidates times %llu repetitions are too many",
                         (unsigned long long)list->highest, (unsigned long long)list->repeat);
    list->finished = calloc(1, (size_t)(list->highest * list->repeat / 8 + 1));
    if (list->finished == NULL)
        return error_no_memory();
    TRY(store_each_trial(options->store, options->campaign, false, list_trial, list));
    if (list->items.count > 0)
        qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_items);
    *ret_self = TAKE(list);
    return NULL;
}

static uint64_t list_planned(const void *self)
{
    const struct list *list = self;
    return list->until_activated ? 0 : list->items.count * list->repeat;
}

static enum call_check check_of(const char *series)
{
    if (series == NULL)
        return CALL_UNCHECKED;
    return strcmp(series, CANDIDATE_CHECKED) == 0  ? CALL_CHECKED
           : strcmp(series, CANDIDATE_STACK) == 0  ? CALL_CHECK_UNKNOWN
           : strcmp(series, CANDIDATE_SECOND) == 0 ? CALL_CHECK_UNKNOWN
                                                   : CALL_UNCHECKED;
}

static struct error *fill_job(void *data, const struct store_candidate *row)
{
    struct trial_job *job = data;
    if (row->number != job->candidate_number)
        return NULL;
    job->candidate = row->id;
    job->basis = row->basis;
    job->check = check_of(row->series);
    job->spec = strdup(row->spec != NULL ? row->spec : "");
    return job->spec == NULL ? error_no_memory() : secrets_restore(&job->spec);
}

static struct error *list_next(void *self, bool *ret_got, struct trial_job *ret_job)
{
    struct list *list = self;
    *ret_got = false;
    for (; list->round < list->repeat; list->round++, list->at = 0)
        while (list->at < list->items.count) {
            struct list_item *item = &list->items.items[list->at];
            uint64_t candidate = item->number;
            uint64_t number = trial_number(list, candidate, list->round);
            if (item->running)
                return NULL;
            list->at++;
            if (list->finished[(number - 1) / 8] & 1u << (number - 1) % 8)
                continue;
            struct trial_job job = {.number = number, .candidate_number = candidate};
            job.seed = trial_seed(list->options.definition->seed, number);
            TRY(store_each_candidate(list->options.store, list->options.campaign, candidate - 1, 1,
                                     fill_job, &job));
            if (job.spec == NULL)
                return error_new("candidate %llu has vanished from the store",
                                 (unsigned long long)candidate);
            item->running = list->until_activated;
            struct error *error = trial_order_begin(&list->order, &job.turn);
            if (error != NULL) {
                trial_job_deinit(&job);
                return error;
            }
            *ret_job = job;
            *ret_got = true;
            return NULL;
        }
    return NULL;
}

static void note_done(struct list *list, const struct trial_job *job, enum verdict verdict)
{
    for (size_t i = 0; i < list->items.count; i++)
        if (list->items.items[i].number == job->candidate_number)
            list->items.items[i].running = false;
    finish_activated(list, job->number, verdict);
}

// What shows no finding is stored at once, and what was not run in turn is run again after a kill.
static struct error *list_done(void *self, struct trial_job *job, struct engine_result *result,
                               schedule_keep keep, void *data)
{
    struct list *list = self;
    bool hold = verdict_facts[result->judgement.verdict].finding;
    uint64_t turn = job->turn;
    if (list->until_activated)
        note_done(list, job, result->judgement.verdict);
    struct error *error = hold ? NULL : keep(data, job, NULL, result);
    if (error == NULL)
        error = trial_order_end(&list->order, turn, hold, job, result, keep, data);
    trial_job_deinit(job);
    engine_result_deinit(result);
    return error;
}

static struct error *list_skip(void *self, const struct trial_job *job, schedule_keep keep,
                               void *data)
{
    struct list *list = self;
    return trial_order_end(&list->order, job->turn, false, NULL, NULL, keep, data);
}

static struct error *list_flush(void *self, schedule_keep keep, void *data)
{
    struct list *list = self;
    return trial_order_flush(&list->order, keep, data);
}

static size_t list_held(const void *self)
{
    const struct list *list = self;
    return list->order.held;
}

const struct schedule_kind schedule_list = {
    .load = list_load,
    .free = list_free,
    .planned = list_planned,
    .next = list_next,
    .done = list_done,
    .skip = list_skip,
    .flush = list_flush,
    .held = list_held,
};
