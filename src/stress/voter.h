// SPDX-License-Identifier: GPL-3.0-or-later
// Does the work of a load: starts the copies, tells them what to do, compares what they have done.
#ifndef ORDEAL_STRESS_VOTER_H
#define ORDEAL_STRESS_VOTER_H

#include "stress/load.h"

// Returns when all is done, a member has failed, or `stop` is readable or closed. The process must
// have no other children.
_must_check_ struct error *voter_run(const struct load_options *options, int stop,
                                     struct load_status *status);

#endif
