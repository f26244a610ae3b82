// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a system: boot, pretest, workload, posttest (the pretest again), shutdown, each but
// the first a script on this side. The pretest tells whether the run is valid, the posttest
// whether the system is still stable.
#ifndef ORDEAL_GUEST_RUN_H
#define ORDEAL_GUEST_RUN_H

#include "guest/machine.h"
#include "guest/report.h"
#include "mce/error.h"

#include <stddef.h>

#define GUEST_MOST_PLACES 64

struct guest_run_options {
    enum guest_accelerator accelerator;
    const char *kernel;    // instead of the system's, or NULL
    char *const *workload; // instead of the system's, ends with NULL; or NULL
    const char *trace;     // as in guest_machine_options
    // Where the fault begins: it is activated when the processor gets to one of these addresses.
    const uint64_t *places;
    size_t place_count; // at most GUEST_MOST_PLACES
    // Machine-check errors, all at once, so long after the workload has begun.
    const struct mce_errors *machine_checks; // or NULL
    uint64_t machine_checks_ns;
    // Called at the beginning of each phase and at the first activation, with what is known so far:
    // whoever runs this may be killed before its end. May be NULL.
    void (*progress)(void *data, const struct guest_report *report);
    void *data;
};

// Runs the system once. What the guest does is never an error, but part of the report. SIGINT,
// SIGTERM and SIGHUP end the run with an error, and stay blocked then.
_must_check_ struct error *guest_run(const struct guest_system *system,
                                     const struct guest_run_options *options,
                                     struct guest_report *ret_report);

#endif
