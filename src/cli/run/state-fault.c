// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares a fault in a register or in memory for one run.
#include "cli/run/state-fault.h"

#include "base/cleanup.h"
#include "elf/object.h"

#include <string.h>

void run_fault_deinit(struct run_fault *fault)
{
    state_file_close(&fault->file);
    state_program_close(&fault->program);
    buffer_deinit(&fault->text);
}

struct error *run_fault_prepare(struct run_fault *fault, const char *command)
{
    const struct source source = source_whole("--inject", fault->spec, strlen(fault->spec));
    _cleanup_(state_fault_deinit) struct state_fault parsed = {0};
    _cleanup_(elf_program_deinit) struct elf_program found = {0};
    TRY(state_fault_parse(&source, &parsed));
    if (parsed.input != 0)
        return source_error(&source, parsed.input_at, "only campaigns have inputs");
    TRY(elf_find_program(command, &found));
    TRY(state_program_open_for(found.path, &parsed, &source, &fault->program));
    TRY(state_program_resolve(&fault->program, &parsed, &source, &fault->plan));
    TRY(state_fault_format(&parsed, &fault->text));
    return state_file_write(&fault->file, &fault->program, &fault->plan, NULL, 0);
}

void run_fault_conclude(struct run_fault *fault, uint64_t start_ns)
{
    fault->result = state_file_result(&fault->file, &fault->program);
    fault->report = (struct report_state){.fault = fault->text.data,
                                          .program = fault->program.path,
                                          .library = fault->program.library,
                                          .plan = &fault->plan,
                                          .result = &fault->result,
                                          .start_ns = start_ns};
}
