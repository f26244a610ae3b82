// SPDX-License-Identifier: GPL-3.0-or-later
// What a comment in front of a declaration says about the results of a function.
#ifndef ORDEAL_PROFILE_DOCUMENTED_H
#define ORDEAL_PROFILE_DOCUMENTED_H

#include <stddef.h>

enum documented {
    DOCUMENTED_ZERO_FAILS = 1 << 0,
    DOCUMENTED_ZERO_SUCCEEDS = 1 << 1, // or tells of an ordinary end
    DOCUMENTED_NEGATIVE_FAILS = 1 << 2,
    DOCUMENTED_NEGATIVE_SUCCEEDS = 1 << 3,
    DOCUMENTED_POSITIVE_FAILS = 1 << 4,
    DOCUMENTED_POSITIVE_SUCCEEDS = 1 << 5,
    DOCUMENTED_CODES = 1 << 6,  // zero succeeds, and codes of errors are returned
    DOCUMENTED_ANSWER = 1 << 7, // the result is described, and nothing is said about failures
    DOCUMENTED_TRUTH = 1 << 8,  // likewise, but for yes and no
    DOCUMENTED_COUNT = 1 << 9,  // an answer that is a number of things or a size
};
#define DOCUMENTED_FAILS                                                                           \
    (DOCUMENTED_ZERO_FAILS | DOCUMENTED_NEGATIVE_FAILS | DOCUMENTED_POSITIVE_FAILS)

// Reads a comment: @return, @retval, \return, "Returns: …", and sentences that say what is
// returned. What is said in two ways counts as not said.
unsigned documented_results(const char *comment, size_t size);

#endif
