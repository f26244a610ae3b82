// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that end the program because of what is passed: error(1, …), or a function of the program
// like report(true, …) that exits if its first argument is not zero.
#ifndef ORDEAL_CALLSITE_ENDING_H
#define ORDEAL_CALLSITE_ENDING_H

#include "base/map.h"
#include "flow/image.h"

// What is known of registers: constants.
struct ending_constants {
    uint16_t known; // mask of registers
    int64_t numbers[ISA_REGISTERS];
};

// A cache; zeroed at first. It belongs to one image.
struct endings {
    struct map known; // hash of a function and its arguments: 1 if it comes back, 0 if not
};
void endings_deinit(struct endings *endings);

// Whether a call of `callee` with such constants in registers may come back. Looks at a limited
// number of blocks, and says that it does when that is not enough.
_must_check_ struct error *ending_comes_back(struct endings *endings,
                                             const struct flow_image *image, uint32_t callee,
                                             const struct ending_constants *constants,
                                             bool *ret_comes_back);

#endif
