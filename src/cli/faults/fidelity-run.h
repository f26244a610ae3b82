// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a workload so that its programs' counts are kept.
#ifndef ORDEAL_CLI_FAULTS_FIDELITY_RUN_H
#define ORDEAL_CLI_FAULTS_FIDELITY_RUN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct counting {
    char *directory; // of the counts, one below it for every run
    bool ours;       // to be removed
    size_t failed;   // runs that did not end with status 0
};
// Runs the command so many times, each with ORDEAL_COUNTERS naming a directory of its own below
// `directory` (NULL: a temporary one) and ORDEAL_RUN its number from 1. Its standard output is
// thrown away.
_must_check_ struct error *counting_run(char *const *command, size_t runs, const char *directory,
                                        struct counting *ret_counting);
void counting_deinit(struct counting *counting);

#endif
