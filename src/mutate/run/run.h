// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a command, outside of campaigns, with software faults in a file that it loads: the
// program, a library, or what one of its children is.
#ifndef ORDEAL_MUTATE_RUN_RUN_H
#define ORDEAL_MUTATE_RUN_RUN_H

#include "mutate/run/programs.h"

struct ir_run {
    char *const *command; // ends with NULL
    bool silent;          // its stdout is thrown away
};

// Runs it without faults and marks in program->executed what is executed. *ret_status as of a
// shell.
_must_check_ struct error *ir_run_profile(const struct ir_run *run, struct ir_program *program,
                                          int *ret_status);
// Runs it with these candidates enabled.
_must_check_ struct error *ir_run_faulty(const struct ir_run *run, struct ir_program *program,
                                         const size_t *candidates, size_t count, int *ret_status);

#endif
