// SPDX-License-Identifier: GPL-3.0-or-later
// Which trial comes next. Everything follows from the store: a schedule made after a kill goes on
// where the last committed result was, with the same trials under the same numbers and seeds.
#ifndef ORDEAL_CAMPAIGN_SCHEDULE_H
#define ORDEAL_CAMPAIGN_SCHEDULE_H

#include "base/error.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct trial_job { // one trial to be run
    uint64_t number, seed;
    int64_t candidate;         // its row; 0: it is stored together with its first result
    uint64_t candidate_number; // numbers of trials and candidates follow from each other
    char *spec;
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

// A result in the order in which results are to be stored. `candidate` is not NULL if it is to be
// stored as well, under job->candidate_number; the row's id goes to job->candidate. Takes nothing.
typedef struct error *(*schedule_keep)(void *data, struct trial_job *job,
                                       const struct candidate *candidate,
                                       struct engine_result *result);

struct schedule;
_must_check_ struct error *schedule_load(const struct schedule_options *options,
                                         struct schedule **ret_schedule);
void schedule_free(struct schedule *schedule);
// Trials in all, those that are done included; 0: not known.
uint64_t schedule_planned(const struct schedule *schedule);
// *ret_got is false if there is nothing to do before a result has come in; with no trial running,
// nothing at all. The job's text is the caller's.
_must_check_ struct error *schedule_next(struct schedule *schedule, bool *ret_got,
                                         struct trial_job *ret_job);
// The result of a job. Takes what is in both; calls `keep` for none, one or more results.
_must_check_ struct error *schedule_done(struct schedule *schedule, struct trial_job *job,
                                         struct engine_result *result, schedule_keep keep,
                                         void *data);

// The two kinds there are; schedule_load() chooses.
struct schedule_kind {
    struct error *(*load)(const struct schedule_options *options, void **ret_self);
    void (*free)(void *self);
    uint64_t (*planned)(const void *self);
    struct error *(*next)(void *self, bool *ret_got, struct trial_job *ret_job);
    struct error *(*done)(void *self, struct trial_job *job, struct engine_result *result,
                          schedule_keep keep, void *data);
};
extern const struct schedule_kind schedule_list, schedule_sweep;

#endif
