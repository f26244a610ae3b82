// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of fault types, from a file.
#ifndef ORDEAL_DEFINITION_WEIGHTS_H
#define ORDEAL_DEFINITION_WEIGHTS_H

#include "base/array.h"
#include "base/error.h"

// A file of weights: lines "FAULT-TYPE WEIGHT", '#' for comments. The type may be a glob; the first
// line that fits a type counts, and without one the weight is 1.
struct weight {
    char *type;
    double weight;
};
struct weights {
    ARRAY(struct weight) lines;
};
_must_check_ struct error *weights_read(const char *path, struct weights *ret_weights);
double weights_find(const struct weights *weights, const char *type);
void weights_deinit(struct weights *weights);

#endif
