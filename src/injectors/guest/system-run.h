// SPDX-License-Identifier: GPL-3.0-or-later
// What injectors into guests share: their workload is `ordeal guest SYSTEM`. It gets options that
// say which fault, and a shared file into which it writes its report.
#ifndef ORDEAL_INJECTORS_GUEST_SYSTEM_RUN_H
#define ORDEAL_INJECTORS_GUEST_SYSTEM_RUN_H

#include "guest/report.h"
#include "guest/run.h"
#include "injector/injector.h"

struct shared_file { // that the command sees, too
    char *path, *directory;
    int file;
};
// Makes the file, or empties it.
_must_check_ struct error *shared_file_make(struct shared_file *file);
void shared_file_close(struct shared_file *file);

struct system_run {
    struct injector_setup setup;
    struct guest_system system;
    enum guest_accelerator accelerator;
    char *ordeal; // this executable
    size_t verb;  // index of "guest" in the command
    bool is_reference;
    struct shared_file report, other; // `other` is the injector's own
    char *snapshots;                  // the folder of trials that need not boot; NULL: they boot
    bool has_joined;                  // it is another instance's
    const char *visible[4];
    struct words command;
};

// `name`: the injector's, for errors. The caller ends it with system_run_close(), also after an
// error.
_must_check_ struct error *system_run_open(struct system_run *self,
                                           const struct injector_setup *setup, const char *name);
void system_run_close(struct system_run *self);

// In a job slot: begins trials with the snapshots that the controller's instance has.
void system_run_join(struct system_run *self, const struct system_run *leader);
// Before a run: begins a command with the options that each run has; the caller adds its own, and
// ends it.
_must_check_ struct error *system_run_begin(struct system_run *self, const struct shot *shot);
_must_check_ struct error *system_run_add(struct system_run *self, const char *word);
// The run begins with a snapshot, if there may be any.
_must_check_ struct error *system_run_add_snapshot(struct system_run *self);
_must_check_ struct error *system_run_end(struct system_run *self, struct shot *shot);

// After it: reads the report, and says what became of the system. *ret_report is empty if there is
// none. The caller adds the injection.
_must_check_ struct error *system_run_observe(const struct system_run *self,
                                              struct guest_report *ret_report,
                                              struct observation *observation);

#endif
