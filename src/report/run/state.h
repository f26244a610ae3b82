// SPDX-License-Identifier: GPL-3.0-or-later
// What the report of a trial says of a fault in a register or in memory.
#ifndef ORDEAL_REPORT_RUN_STATE_H
#define ORDEAL_REPORT_RUN_STATE_H

#include "dwarf/symbolizer.h"
#include "report/json.h"
#include "wire/state.h"

struct report_state {
    const char *fault;   // its text
    const char *program; // path of the file that it is injected into
    bool library;        // that file is a library
    const struct wire_state_fault *plan;
    const struct wire_state_result *result;
    uint64_t start_ns; // of the trial
};

_must_check_ struct error *report_state_text(const struct report_state *state, struct buffer *text);
void report_state_json(const struct report_state *state, struct json_builder *builder,
                       json_t *parent);

#endif
