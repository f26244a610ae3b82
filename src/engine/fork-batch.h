// SPDX-License-Identifier: GPL-3.0-or-later
// Many trials of a job slot in few runs of the workload, which forks where each fault is injected.
// What cannot be done that way runs in full; a tenth of the rest does so as well, and is compared.
#ifndef ORDEAL_ENGINE_FORK_BATCH_H
#define ORDEAL_ENGINE_FORK_BATCH_H

#include "engine/engine.h"
#include "engine/shooting.h"
#include "engine/slot-message.h"

// Fewer are not worth a run more.
#define FORK_BATCH_LEAST 4
#define FORK_BATCH_MOST  256

struct fork_batch {
    struct shooting *shooting;
    const struct reference *reference;
    const struct slot_job *jobs;
    size_t count;
    bool first; // of this slot: one of its trials is checked in any case
    // Whether the rest is not wanted any more. Asked between trials.
    bool (*stopped)(void *data);
    // A run of its own for a job.
    struct error *(*shoot)(void *data, const struct slot_job *job, struct engine_result *result);
    // What a run of the workload's copy says.
    struct error *(*judge)(void *data, struct outcome_run *run, struct engine_result *result);
    void *data;
};

// Fills in all results: those that were not run have WAY_NOT_RUN. *ret_trusted: no check failed.
_must_check_ struct error *fork_batch_run(const struct fork_batch *batch,
                                          struct engine_result *results, bool *ret_trusted);

// Whether a trial is one of those that are checked.
bool fork_batch_checks(uint64_t seed);
// Whether two results of the same trial tell the same.
bool fork_batch_agrees(const struct engine_result *forked, const struct engine_result *full);

#endif
