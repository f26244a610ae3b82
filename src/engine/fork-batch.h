// SPDX-License-Identifier: GPL-3.0-or-later
// Runs many trials of a job slot in few runs of the workload, which forks where each fault is
// injected. Trials that cannot be forked run in full. A tenth of the others run in full as well,
// and both results are compared.
#ifndef ORDEAL_ENGINE_FORK_BATCH_H
#define ORDEAL_ENGINE_FORK_BATCH_H

#include "engine/engine.h"
#include "engine/shooting.h"
#include "engine/slot-message.h"

// Fewer trials are not worth another run.
#define FORK_BATCH_LEAST 4
#define FORK_BATCH_MOST  256

struct fork_batch {
    struct shooting *shooting;
    const struct reference *reference;
    const struct slot_job *jobs;
    size_t count;
    bool first; // the first batch of this slot: one of its trials is checked in any case
    // Whether the rest was withdrawn. Asked between trials.
    bool (*stopped)(void *data);
    // Runs a job in full.
    struct error *(*shoot)(void *data, const struct slot_job *job, struct engine_result *result);
    // A forked copy of the workload that runs a job begins; NULL: it has ended.
    void (*running)(void *data, const struct slot_job *job);
    // Judges the run of a forked copy of the workload.
    struct error *(*judge)(void *data, struct outcome_run *run, struct engine_result *result);
    void *data;
};

// Fills in all results, which the caller frees. Trials that were not run have WAY_NOT_RUN.
// *ret_trusted: no check failed.
_must_check_ struct error *fork_batch_run(const struct fork_batch *batch,
                                          struct engine_result *results, bool *ret_trusted);

// Whether the trial with this seed is checked by a full run.
bool fork_batch_checks(uint64_t seed);
// Whether two results of the same trial agree.
bool fork_batch_agrees(const struct engine_result *forked, const struct engine_result *full);

#endif
