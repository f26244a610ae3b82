// SPDX-License-Identifier: GPL-3.0-or-later
// The report of one trial, made from its region, as text and as JSON. The caller frees *ret_text.
#ifndef ORDEAL_REPORT_RUN_RUN_H
#define ORDEAL_REPORT_RUN_RUN_H

#include "base/array.h"
#include "base/error.h"
#include "report/run/state.h"
#include "sandbox/sandbox.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stddef.h>

struct report_run {
    const struct wire_view *view; // verified; its records and module names may still hold anything
    char *const *warnings;
    size_t warning_count;
    // For each rule, why it cannot apply, or NULL; the array is NULL if not known
    char *const *reasons;
    // The word for what the sandbox was; NULL: there was none. What was changed in it and thrown
    // away: the first `change_count` of `changed`.
    const char *sandbox;
    const struct sandbox_change *changes;
    size_t change_count, changed;
    const struct report_state *state; // or NULL
    bool symbolize;                   // look up symbols and lines of call sites
    bool all;                         // the text lists every injection, not only the first few
    bool colour;                      // the text may use terminal colours
};

_must_check_ struct error *report_run_text(const struct report_run *run, struct buffer *ret_text);
_must_check_ struct error *report_run_json(const struct report_run *run, struct buffer *ret_text);

#endif
