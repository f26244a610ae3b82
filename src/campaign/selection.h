// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the candidates are run, and in which order.
#ifndef ORDEAL_CAMPAIGN_SELECTION_H
#define ORDEAL_CAMPAIGN_SELECTION_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"

// Marks with true what is chosen. Uniform over candidates, or by weight; the same seed chooses the
// same. Of a sweep: the first position of every series. Candidates get the weights that were used.
struct error *selection_choose(const struct selection *selection, uint64_t seed,
                               struct candidate *candidates, size_t count, bool **ret_chosen);

// That the parts of a selection go together, and that its file of weights can be read.
struct error *selection_check(const struct selection *selection);

// A file of weights: lines "FAULT-TYPE WEIGHT", '#' for comments. The type may be a glob; the first
// line that fits a type counts, and without one the weight is 1.
struct weight {
    char *type;
    double weight;
};
struct weights {
    ARRAY(struct weight) lines;
};
struct error *weights_read(const char *path, struct weights *ret_weights);
double weights_find(const struct weights *weights, const char *type);
void weights_deinit(struct weights *weights);

#endif
