// SPDX-License-Identifier: GPL-3.0-or-later
// Injections of a finished trial that no real failure looks like.
#ifndef ORDEAL_TRIAL_DOUBTS_H
#define ORDEAL_TRIAL_DOUBTS_H

#include "trial/diagnose.h"

// Adds a warning for each function that was made to return what it cannot return.
_must_check_ struct error *doubts_warn(const struct wire_view *view, struct diagnosis *diagnosis);

#endif
