// SPDX-License-Identifier: GPL-3.0-or-later
// Explains, after a trial, why rules could not apply and which programs could not be intercepted.
#ifndef ORDEAL_TRIAL_DIAGNOSE_H
#define ORDEAL_TRIAL_DIAGNOSE_H

#include "base/array.h"
#include "base/error.h"
#include "wire/view.h"

struct diagnosis {
    char **whys; // for each rule a sentence; NULL if it could apply
    size_t why_count;
    ARRAY(char *) warnings;
};
// Fails only when memory is short. The caller ends it with diagnosis_deinit().
_must_check_ struct error *diagnosis_make(const struct wire_view *view,
                                          struct diagnosis *ret_diagnosis);
void diagnosis_deinit(struct diagnosis *diagnosis);

// Appends the functions that the command's program imports and that can do the same as `function`:
// "open64, openat and fopen". Appends nothing if there are none, or the program cannot be read.
_must_check_ struct error *diagnosis_alternatives(const char *command, const char *function,
                                                  struct buffer *names);

// Appends a warning.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
diagnosis_warn(struct diagnosis *diagnosis, const char *format, ...);

#endif
