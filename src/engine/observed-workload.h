// SPDX-License-Identifier: GPL-3.0-or-later
// A workload whose visible behaviour is recorded, or what a library gives its user: in place of its
// command the sandbox runs a function of Ordeal that traces it (observe/trace.h,
// interface/record.h), in the same sandbox.
#ifndef ORDEAL_ENGINE_OBSERVED_WORKLOAD_H
#define ORDEAL_ENGINE_OBSERVED_WORKLOAD_H

#include "base/error.h"
#include "oracle/outcome.h"
#include "sandbox/sandbox.h"

struct observed_workload;

// The lists are only read here.
struct observed_plan {
    char *const *command, *const *environment;
    const char *input;             // path for stdin, or NULL
    const char *program;           // each start of it is an invocation; NULL: the command is one
    bool faulty;                   // faults are injected
    const struct words *libraries; // to watch; empty: behaviour is recorded
};
_must_check_ struct error *observed_workload_new(const struct observed_plan *plan,
                                                 struct observed_workload **ret_workload);
void observed_workload_free(struct observed_workload *workload);

// Makes the step run it.
void observed_workload_fill(const struct observed_workload *workload, struct sandbox_step *step);
// After the run: moves what was recorded into it. There is nothing if the workload timed out.
_must_check_ struct error *observed_workload_take(const struct observed_workload *workload,
                                                  struct outcome_run *run);

#endif
