// SPDX-License-Identifier: GPL-3.0-or-later
// Faults where and when the load is in a command of the user's: nothing votes there, so what is
// noticed is what the command itself says.
#ifndef ORDEAL_STRESS_COMMAND_H
#define ORDEAL_STRESS_COMMAND_H

#include "sandbox/sandbox.h"
#include "stress/run.h"

struct stress_command {
    char *const *words;
    char *const *environment;
    struct sandbox *sandbox;
    uint64_t timeout_ns; // 0: as long as it wants
};

// A file that it changed, and what that is now.
struct command_change {
    char *path;
    uint64_t digest;
    bool varies; // of a reference: not the same each time
};
typedef ARRAY(struct command_change) command_changes;

// What one run did.
struct command_run {
    enum sandbox_end end;
    int status;
    uint64_t ns, out, err;       // digests of what it printed
    command_changes changes;     // sorted by path
    bool out_varies, err_varies; // of a reference
};
void command_run_deinit(struct command_run *run);

enum command_end {
    COMMAND_AS_BEFORE, // it did what it does without a fault
    COMMAND_REPORTED,  // it ended with another status, or complained on stderr
    COMMAND_KILLED,    // by a signal
    COMMAND_HUNG,
    COMMAND_WRONG, // another result, and not a word about it
    COMMAND_ENDS,
};
extern const char *const command_end_names[COMMAND_ENDS];

// Runs it `times` times without a fault: what is a lot of each area, and what it does. What is not
// the same in each run is not compared.
_must_check_ struct error *command_calibrate(const struct stress_command *command,
                                             const struct stress_options *options, unsigned times,
                                             struct stress_range *ret_range,
                                             enum measure_memory *ret_memory, size_t *ret_samples,
                                             struct command_run *ret_reference);
// Runs it once with faults, or null faults. Of the result errors, functions and sum stay 0.
_must_check_ struct error *command_run_faulty(const struct stress_command *command,
                                              const struct stress_options *options, bool null,
                                              struct stress_result *ret_result,
                                              struct command_run *ret_run);
enum command_end command_compare(const struct command_run *run,
                                 const struct command_run *reference);

#endif
