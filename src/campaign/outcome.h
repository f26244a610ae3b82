// SPDX-License-Identifier: GPL-3.0-or-later
// What one run of a workload did, as far as it can be seen from outside: the raw material of
// references and verdicts.
#ifndef ORDEAL_CAMPAIGN_OUTCOME_H
#define ORDEAL_CAMPAIGN_OUTCOME_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/injector.h"
#include "sandbox/sandbox.h"
#include "store/verdict.h"

#include <stdbool.h>
#include <stdint.h>

#define ARTIFACT_CONTENT (64u << 10) // bytes kept of each for a comparison by lines

struct artifact { // an output: a stream ("<stdout>", "<stderr>") or a changed file
    char *path;
    const char *kind; // as in store_artifact
    uint64_t size, hash;
    struct buffer content; // beginning, at most ARTIFACT_CONTENT
};

struct outcome_run {
    struct sandbox_result pretest, workload, posttest, oracle; // SANDBOX_SKIPPED if there is none
    bool setup_failed;
    ARRAY(struct artifact) artifacts; // sorted by path; streams first
    struct observation observation;
    char *hang_stack, *hang_key; // as the crash's, of a run that was overdue; or NULL
    char *sanitizer;             // "AddressSanitizer: heap-use-after-free ...", or NULL
    char *trouble;               // why the run could not be led to its end by no fault of the target
};
void outcome_run_deinit(struct outcome_run *run);

#endif
