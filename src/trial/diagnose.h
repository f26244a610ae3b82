// SPDX-License-Identifier: GPL-3.0-or-later
// Why rules of a finished trial could not apply, and which of its programs were out of reach.
#ifndef ORDEAL_TRIAL_DIAGNOSE_H
#define ORDEAL_TRIAL_DIAGNOSE_H

#include "base/array.h"
#include "base/error.h"
#include "wire/view.h"

struct diagnosis {
    char **whys; // for each rule a sentence, or NULL if it could apply
    size_t why_count;
    ARRAY(char *) warnings;
};
_must_check_ struct error *diagnosis_make(const struct wire_view *view,
                                          struct diagnosis *ret_diagnosis);
void diagnosis_deinit(struct diagnosis *diagnosis);

// "open64, openat and fopen": what the command's program imports that does the same as a function,
// if it imports anything like that.
_must_check_ struct error *diagnosis_relatives(const char *command, const char *function,
                                               struct buffer *names);

__attribute__((format(printf, 2, 3))) _must_check_ struct error *
diagnosis_warn(struct diagnosis *diagnosis, const char *format, ...);

#endif
