// SPDX-License-Identifier: GPL-3.0-or-later
// How users name a trial: "17" and "trial:17"; "F3" and "finding:3" are the trial that shows
// finding 3 best.
#ifndef ORDEAL_CLI_TRIAL_NAME_H
#define ORDEAL_CLI_TRIAL_NAME_H

#include "base/error.h"
#include "store/store.h"

// Does not look whether a trial that was named by its number exists.
_must_check_ struct error *trial_find(struct store *store, const char *text, int64_t *ret_trial);

#endif
