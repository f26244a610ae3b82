// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the candidates to run.
#ifndef ORDEAL_CAMPAIGN_SELECTION_H
#define ORDEAL_CAMPAIGN_SELECTION_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"

// Sets chosen candidates to true in *ret_chosen, which the caller frees. A sample is uniform, or by
// weight; the same seed chooses the same. A sweep chooses the first position of every series.
// Candidates get the weights that were used.
_must_check_ struct error *selection_choose(const struct selection *selection, uint64_t seed,
                                            struct candidate *candidates, size_t count,
                                            bool **ret_chosen);

#endif
