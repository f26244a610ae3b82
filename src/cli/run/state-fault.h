// SPDX-License-Identifier: GPL-3.0-or-later
// A fault in a register or in memory in `ordeal run`: from its text to the state file.
#ifndef ORDEAL_CLI_RUN_STATE_FAULT_H
#define ORDEAL_CLI_RUN_STATE_FAULT_H

#include "report/run/state.h"
#include "state/file.h"

struct run_fault {
    const char *spec; // what the user wrote, or NULL: there is no such fault
    struct buffer text;
    struct state_program program;
    struct wire_state_fault plan;
    struct wire_state_result result;
    struct state_file file;
    struct report_state report;
};
void run_fault_deinit(struct run_fault *fault);

// Reads the text, finds its places in the command's program, and makes the file for the tracer.
_must_check_ struct error *run_fault_prepare(struct run_fault *fault, const char *command);
// After the run: what the report needs.
void run_fault_conclude(struct run_fault *fault, uint64_t start_ns);

#endif
