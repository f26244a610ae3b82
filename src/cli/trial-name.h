// SPDX-License-Identifier: GPL-3.0-or-later
// How users name a trial: by its number, "17" or "trial:17", or by a finding, "F3" or "finding:3",
// which stands for the trial that shows it best.
#ifndef ORDEAL_CLI_TRIAL_NAME_H
#define ORDEAL_CLI_TRIAL_NAME_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>

// Whether it has the form of such a name.
bool trial_is_name(const char *text);
// Does not check that a trial given by number exists. An error if the text is no name, or if there
// is no such finding.
_must_check_ struct error *trial_find(struct store *store, const char *text, int64_t *ret_trial);

#endif
