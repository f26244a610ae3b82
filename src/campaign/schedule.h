// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which trial comes next. A schedule depends on the store alone: after a kill it continues
// after the last committed result, with the same trials, numbers and seeds.
#ifndef ORDEAL_CAMPAIGN_SCHEDULE_H
#define ORDEAL_CAMPAIGN_SCHEDULE_H

#include "base/error.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// Whether the program looks at the result of a call.
enum call_check { CALL_UNCHECKED, CALL_CHECKED, CALL_CHECK_UNKNOWN };

struct trial_job { // one trial to be run
    uint64_t number, seed;
    int64_t candidate;         // its row; 0: stored together with its first result
    uint64_t candidate_number; // trial numbers are derived from it
    char *spec;
    enum store_basis basis; // of the candidate
    enum call_check check;  // of the call that fails
    bool proving;           // it runs for the proof of a finding
    uint64_t turn;          // of the list: its place in the order of trials, from 1
    // Of a sweep:
    size_t series;
    uint64_t step;
};
void trial_job_deinit(struct trial_job *job);

// The seed of a campaign's trial number N.
uint64_t trial_seed(uint64_t campaign_seed, uint64_t number);

struct schedule_options {
    const struct definition *definition;
    const struct injector *injector;
    void *injector_self;
    struct store *store;
    int64_t campaign;
};

// Stores one result; called in the order in which results are to be stored. If `candidate` is not
// NULL, it is to be stored, too, as number job->candidate_number, and its row's id goes to
// job->candidate. The caller keeps ownership of everything.
typedef struct error *(*schedule_keep)(void *data, struct trial_job *job,
                                       const struct candidate *candidate,
                                       struct engine_result *result);

struct schedule;
_must_check_ struct error *schedule_load(const struct schedule_options *options,
                                         struct schedule **ret_schedule);
void schedule_free(struct schedule *schedule);
// Number of trials, finished ones included; 0: not known.
uint64_t schedule_planned(const struct schedule *schedule);
// The next trial. If *ret_got is false, there is none before another result arrives; if no trial is
// running, there is none at all. The caller frees the job with trial_job_deinit().
_must_check_ struct error *schedule_next(struct schedule *schedule, bool *ret_got,
                                         struct trial_job *ret_job);
// Takes over the contents of a job and its result. Calls `keep` for none, one or more results. A
// list keeps a result that may show a finding back until all trials before it have ended, so that
// findings have the same numbers in every run.
_must_check_ struct error *schedule_done(struct schedule *schedule, struct trial_job *job,
                                         struct engine_result *result, schedule_keep keep,
                                         void *data);

// A job will have no result: it was withdrawn. The caller keeps the job.
_must_check_ struct error *schedule_skip(struct schedule *schedule, const struct trial_job *job,
                                         schedule_keep keep, void *data);
// Calls `keep` for all results that were kept back: no more will come.
_must_check_ struct error *schedule_flush(struct schedule *schedule, schedule_keep keep,
                                          void *data);
// The number of results that are kept back.
size_t schedule_held(const struct schedule *schedule);

// The two kinds of schedule. schedule_load() chooses one.
struct schedule_kind {
    struct error *(*load)(const struct schedule_options *options, void **ret_self);
    void (*free)(void *self);
    uint64_t (*planned)(const void *self);
    struct error *(*next)(void *self, bool *ret_got, struct trial_job *ret_job);
    struct error *(*done)(void *self, struct trial_job *job, struct engine_result *result,
                          schedule_keep keep, void *data);
    // NULL: results are never kept back.
    struct error *(*skip)(void *self, const struct trial_job *job, schedule_keep keep, void *data);
    struct error *(*flush)(void *self, schedule_keep keep, void *data);
    size_t (*held)(const void *self);
};
extern const struct schedule_kind schedule_list, schedule_sweep;

#endif
