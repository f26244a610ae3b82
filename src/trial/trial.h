// SPDX-License-Identifier: GPL-3.0-or-later
// One trial: runs a command once with a scenario and keeps everything that is known about it.
#ifndef ORDEAL_TRIAL_TRIAL_H
#define ORDEAL_TRIAL_TRIAL_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"
#include "sandbox/sandbox.h"
#include "scenario/scenario.h"
#include "trial/region.h"
#include "trial/runtime-session.h"
#include "trial/supervise.h"

#include <stdbool.h>
#include <stdint.h>

struct trial_options {
    char *const *command; // ends with NULL
    // If the command's program cannot be intercepted, rules without a library become rules about
    // system calls.
    struct scenario *scenario;
    uint64_t seed;
    uint64_t timeout_ns;       // 0 = none
    const char *journal_path;  // or NULL
    const char *stacks_path;   // file with the stacks that new_stack remembers, or NULL
    const char *coordinator;   // or NULL
    const char *node;          // or NULL
    uint32_t journal_records;  // 0 = the usual number
    enum sandbox_kind sandbox; // NONE: the command runs as it would without us
    // With a fault in a register or in memory, or NULL. Then a program that cannot be intercepted
    // runs without the runtime, if there are no rules.
    const char *state_file;
};

struct trial {
    struct runtime_session *session;
    struct wire_view view;
    struct words started;     // the command, with the tracer in front of it if rules need one
    char *const *environment; // that it is started with
    bool bare;                // without the runtime
    struct outcome outcome;
    ARRAY(char *) warnings; // one sentence each
    // What became of `sandbox`. What the command changed in it, sorted by path: at least the first
    // ones, with path, kind and size; and how many there are.
    enum sandbox_kind sandbox;
    ARRAY(struct sandbox_change) changes;
    size_t change_count;
};

// Fails if the command was not started, or could not be watched to its end. The view belongs to the
// session; trial_deinit() releases everything.
_must_check_ struct error *trial_run(const struct trial_options *options, struct trial *ret_trial);
void trial_deinit(struct trial *trial);

// For this room only: adds a warning.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
trial_warn(struct trial *trial, const char *format, ...);

#endif
