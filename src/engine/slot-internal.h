// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of a job slot share. Except for slot_shoot(), an error means that the slot cannot
// go on.
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
    uint64_t *running; // as of slot_start()
    struct buffer in, out;
    size_t taken;   // size of the last message, which is at the start of `in`
    bool checked;   // a forked trial was checked by a full run
    bool distrusts; // a forked trial gave another result than its full run
};

// Receives one message to the start of slot->in. *ret_size is 0 when the controller has closed its
// end.
_must_check_ struct error *slot_receive(struct slot *slot, size_t *ret_size);
// Lets the controller know which job is running, for the case that the slot dies; NULL: none.
void slot_note_running(struct slot *slot, const struct slot_job *job);
// Runs and judges a job in full. An error means that the shot could not be run.
_must_check_ struct error *slot_shoot(struct slot *slot, const struct slot_job *job,
                                      struct engine_result *result);
// Judges a run and fills in the result. Takes parts of the run.
_must_check_ struct error *slot_judge(const struct slot *slot, struct outcome_run *run,
                                      struct engine_result *result);
// Sends the result of a job. If `failure` is not NULL, the result says that the job could not be
// run; the error is freed.
_must_check_ struct error *slot_send(struct slot *slot, const struct slot_job *job,
                                     struct engine_result *result, struct error *failure);

// Whether this fault can be tried in a server that has gone through others.
bool session_fits(const struct slot *slot, const char *spec);
// Tries it, and all following jobs that fit into the same life of the server. *ret_more: *job is
// now a job that did not fit.
_must_check_ struct error *session_run(struct slot *slot, struct slot_job *job, bool *ret_more);

// Answers the first of several jobs: takes the others, too, and forks where the faults are
// injected.
_must_check_ struct error *slot_answer_lot(struct slot *slot, struct slot_job *job);

#endif
