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

struct guest_patch { // of the guest's memory
    uint64_t physical;
    unsigned char before[8], after[8];
    size_t size;
};

struct guest_run_options {
    enum guest_accelerator accelerator;
    // The folder of a snapshot, or NULL. The run begins with it, after the pretest. If there is
    // none yet, the system boots and the pretest runs, to make it.
    const char *snapshot;
    // The fault, for a run that begins with a snapshot: the system has booted without it, with the
    // kernel that snapshot_kernel() writes, which has to run its twins. It is called if there is no
    // such snapshot yet.
    const struct guest_patch *patches;
    size_t patch_count;
    struct error *(*snapshot_kernel)(void *data, const char **ret_path);
    const char *kernel;    // instead of the system's, or NULL; not with a snapshot
    char *const *workload; // instead of the system's, ends with NULL; or NULL
    const char *trace;     // as in guest_machine_options
    // Where the fault begins: it is activated when the processor gets to one of these addresses.
    const uint64_t *places;
    size_t place_count; // at most GUEST_MOST_PLACES
    // Machine-check errors, all at once, so long after the workload has begun.
    const struct mce_errors *machine_checks; // or NULL
    uint64_t machine_checks_ns;
    // So long after each other instead of all at once; 0: all at once.
    uint64_t machine_checks_every_ns;
    // The address of the function by which Linux grades an error; 0: grades are not taken.
    uint64_t severity_function;
    // Bits of a byte of the machine's memory that are cleared just before, such as the kernel's
    // note that the processor supports something. 0: none.
    unsigned char clear_bits;
    uint64_t clear_physical;
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
