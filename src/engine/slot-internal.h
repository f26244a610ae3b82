// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of a job slot share.
#ifndef ORDEAL_ENGINE_SLOT_INTERNAL_H
#define ORDEAL_ENGINE_SLOT_INTERNAL_H

#include "base/array.h"
#include "engine/shooting.h"
#include "engine/slot-message.h"
#include "engine/slot.h"
#include "oracle/outcome.h"

#include <stdbool.h>

struct slot {
    const struct engine_task *task;
    struct shooting *shooting;
    int socket;
    struct buffer in, out;
    size_t taken;   // bytes of `in` that are the last message
    bool checked;   // a trial that was forked ran in full, too
    bool distrusts; // a fork told something else than a run in full
};

// One message at the start of slot->in; *ret_size 0 when the controller has closed its end.
_must_check_ struct error *slot_receive(struct slot *slot, size_t *ret_size);
// A run of its own.
_must_check_ struct error *slot_shoot(struct slot *slot, const struct slot_job *job,
                                      struct engine_result *result);
// Verdict and all. Takes parts of the run.
_must_check_ struct error *slot_judge(const struct slot *slot, struct outcome_run *run,
                                      struct engine_result *result);
// The answer to a job; `failure`, which it takes, makes it one that could not be run.
_must_check_ struct error *slot_send(struct slot *slot, const struct slot_job *job,
                                     struct engine_result *result, struct error *failure);

// Whether a fault can be tried in a server that has lived through others.
bool session_fits(const struct slot *slot, const char *spec);
// Does so, and with it all jobs that follow and fit into the same life. *ret_more: a job that does
// not is left in *job.
_must_check_ struct error *session_run(struct slot *slot, struct slot_job *job, bool *ret_more);

// The first of several jobs: takes the others, and forks where the faults are injected.
_must_check_ struct error *slot_answer_lot(struct slot *slot, struct slot_job *job);

#endif
