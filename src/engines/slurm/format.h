// SPDX-License-Identifier: GPL-3.0-or-later
// The files that controller and nodes exchange, as bytes. Both read them as foreign bytes: the file
// system is another machine's, and results come from processes that ran hostile programs.
#ifndef ORDEAL_ENGINES_SLURM_FORMAT_H
#define ORDEAL_ENGINES_SLURM_FORMAT_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

#define FORMAT_JOBS_MOST  65536u // of one piece
#define FORMAT_WORDS_MOST 65536u

// What all tasks are told.
struct setup {
    uint64_t stuck_ns;
    bool ahead;
    struct words switchable; // as of engine_task; empty: there are none
    struct words ignored;    // oracle.ignore, with what the controller has added
};
_must_check_ struct error *setup_put(struct buffer *bytes, const struct setup *setup);
_must_check_ struct error *setup_get(const struct buffer *bytes, struct setup *ret_setup);
void setup_deinit(struct setup *setup);

// Trials that are one task.
struct work_job {
    struct engine_job job; // its spec is `spec`, its tag the index in the work
    char *spec;            // owned
    uint32_t more;         // so many following jobs are of the same lot
};
struct work {
    uint64_t piece;
    ARRAY(struct work_job) jobs;
};
_must_check_ struct error *work_put(struct buffer *bytes, const struct work *work);
_must_check_ struct error *work_get(const struct buffer *bytes, struct work *ret_work);
void work_deinit(struct work *work);

// Results of some of its jobs.
struct done {
    uint64_t piece;
    uint64_t start_ns, work_ns; // how long it took to begin, and how long these jobs took
    char *node;
    char *refusal;                       // why there will be no results from this node, or NULL
    ARRAY(struct engine_result) results; // job.tag: index in the work
};
// Appends everything but results, which slot_message_put_result() then appends.
_must_check_ struct error *done_put(struct buffer *bytes, const struct done *done);
_must_check_ struct error *done_get(const struct buffer *bytes, struct done *ret_done);
void done_deinit(struct done *done);

#endif
