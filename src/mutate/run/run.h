// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command once, outside of campaigns, with software faults in one file that it loads: its
// program, a library, or the program of one of its children.
#ifndef ORDEAL_MUTATE_RUN_RUN_H
#define ORDEAL_MUTATE_RUN_RUN_H

#include "mutate/run/programs.h"

struct ir_run {
    char *const *command; // ends with NULL
    bool silent;          // its stdout is thrown away
};

// Runs it without faults and sets program->executed. *ret_status is as a shell has it. Fails if the
// command does not load the file.
_must_check_ struct error *ir_run_profile(const struct ir_run *run, struct ir_program *program,
                                          int *ret_status);
// Runs it with these candidates enabled; otherwise the same.
_must_check_ struct error *ir_run_faulty(const struct ir_run *run, struct ir_program *program,
                                         const size_t *candidates, size_t count, int *ret_status);

#endif
