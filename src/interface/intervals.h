// SPDX-License-Identifier: GPL-3.0-or-later
// Which area an address belongs to: intervals that do not overlap, in a balanced tree.
#ifndef ORDEAL_INTERFACE_INTERVALS_H
#define ORDEAL_INTERFACE_INTERVALS_H

#include "base/array.h"

#include <stdint.h>

struct interval {
    uint64_t start, end; // [start, end)
    uint32_t area;
    uint32_t left, right; // nodes of the tree, 0: none
    uint32_t weight;      // a random number; the parent's is higher
};
// Starts zeroed.
struct intervals {
    ARRAY(struct interval) nodes; // the first is not used
    uint32_t root, unused;        // the first of a chain, linked by `left`
    uint32_t last;                // the node that was found last
    uint32_t random;
};
void intervals_deinit(struct intervals *intervals);

// Adds an interval and cuts what was there out of others.
_must_check_ struct error *intervals_put(struct intervals *intervals, uint64_t start, uint64_t end,
                                         uint32_t area);
// Cuts an interval out of all.
_must_check_ struct error *intervals_cut(struct intervals *intervals, uint64_t start, uint64_t end);
// The interval with the address, or NULL.
const struct interval *intervals_find(struct intervals *intervals, uint64_t address);
// The first interval that ends above the address, or NULL.
const struct interval *intervals_above(const struct intervals *intervals, uint64_t address);

#endif
