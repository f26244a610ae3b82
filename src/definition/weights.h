// SPDX-License-Identifier: GPL-3.0-or-later
// Reads weights of fault types from a file. The caller frees them with weights_deinit().
#ifndef ORDEAL_DEFINITION_WEIGHTS_H
#define ORDEAL_DEFINITION_WEIGHTS_H

#include "base/array.h"
#include "base/error.h"

// The file has lines "FAULT-TYPE WEIGHT", and '#' for comments. The type may be a glob. The first
// line that matches a type counts; if none does, the weight is 1.
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
