// SPDX-License-Identifier: GPL-3.0-or-later
// Results that a trial injected although the function never returns them.
#ifndef ORDEAL_TRIAL_IMPOSSIBLE_RESULTS_H
#define ORDEAL_TRIAL_IMPOSSIBLE_RESULTS_H

#include "trial/diagnose.h"

// Adds a warning for each function that was made to return what it cannot return, for a few at
// most.
_must_check_ struct error *impossible_results_warn(const struct wire_view *view,
                                                   struct diagnosis *diagnosis);

#endif
