// SPDX-License-Identifier: GPL-3.0-or-later
// The longest common subsequence of two rows of words.
#ifndef ORDEAL_INTERFACE_SEQUENCE_H
#define ORDEAL_INTERFACE_SEQUENCE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sequence {
    const uint64_t *words;
    size_t count;    // below 2^31
    bool *is_common; // set by the search; the caller's, and false before
};
// Myers' algorithm in linear space: its time grows with the difference. `effort` limits the steps;
// where they are used up, words count as different that need not be. *ret_exact tells.
_must_check_ struct error *sequence_compare(struct sequence *a, struct sequence *b, uint64_t effort,
                                            bool *ret_exact);

#endif
