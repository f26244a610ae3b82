// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the command of a trial in a sandbox, with the user's terminal, standard streams and signals.
#ifndef ORDEAL_TRIAL_SANDBOXED_H
#define ORDEAL_TRIAL_SANDBOXED_H

#include "base/error.h"
#include "trial/trial.h"

// Runs the command of a session that was prepared. Sets the outcome, the changes and the warnings
// of the trial. What the command changed has been thrown away when this returns.
_must_check_ struct error *sandboxed_run(const struct trial_options *options,
                                         struct sandbox *sandbox, struct trial *trial);

#endif
