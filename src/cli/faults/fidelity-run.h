// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a workload so that its programs keep their counts.
#ifndef ORDEAL_CLI_FAULTS_FIDELITY_RUN_H
#define ORDEAL_CLI_FAULTS_FIDELITY_RUN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct counted_runs {
    char *directory; // of the counts, with one directory inside for each run
    bool ours;       // temporary, to be removed
    size_t failed;   // runs that did not end with status 0
};
// Runs the command `runs` times. Each run gets a directory of its own below `directory` (NULL: a
// temporary one) in ORDEAL_COUNTERS, and its number from 1 in ORDEAL_RUN. Its standard output is
// discarded.
_must_check_ struct error *counted_runs_make(char *const *command, size_t runs,
                                             const char *directory,
                                             struct counted_runs *ret_counting);
void counted_runs_deinit(struct counted_runs *counted_runs);

#endif
