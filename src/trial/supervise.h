// SPDX-License-Identifier: GPL-3.0-or-later
// Starts the command of a trial and waits until it and everything it started have ended.
#ifndef ORDEAL_TRIAL_SUPERVISE_H
#define ORDEAL_TRIAL_SUPERVISE_H

#include "base/error.h"
#include "wire/region.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The signal mask and actions that this process had, so that the command gets the same.
struct supervise_signals {
    sigset_t mask;
    struct sigaction child, pipe, size;
};
// Blocks the signals that supervise_wait() waits for. Threads that are started later do not get
// them.
_must_check_ struct error *supervise_signals_take(struct supervise_signals *ret_saved);
void supervise_signals_restore(const struct supervise_signals *saved);

struct outcome {
    enum wire_outcome kind;
    int status; // exit status or signal number
    uint64_t ns;
    size_t left_over; // processes that could not be killed
};

// Starts `command` (searched in PATH) with `environment`. Fails if it cannot be executed. What it
// changes for a command with a small stack is in `ret_limits`, as in wire_programs.command_limits.
_must_check_ struct error *supervise_start(char *const *command, char *const *environment,
                                           const struct supervise_signals *signals,
                                           uint64_t ret_limits[2], pid_t *ret_pid);
struct supervise_options {
    uint64_t start_ns;   // when the command was started
    uint64_t timeout_ns; // kill everything this much later; 0 = never
    // Called once if the command still runs after RESERVE_WAIT_NS. Its error ends the trial.
    struct error *(*settled)(void *data);
    void *data;
};
// Waits until the command and everything it started have ended. When it fails, they have been
// killed.
_must_check_ struct error *supervise_wait(pid_t pid, const struct supervise_options *options,
                                          struct outcome *ret_outcome);
// Kills all processes below this one and reaps them. Returns how many could not be killed.
size_t supervise_kill(void);

#endif
