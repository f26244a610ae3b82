// SPDX-License-Identifier: GPL-3.0-or-later
// Rates one outcome of a function: how likely it is a failure, and why.
#ifndef ORDEAL_PROFILE_RATING_H
#define ORDEAL_PROFILE_RATING_H

#include "profile/failures.h"
#include "profile/picture.h"

struct rating {
    unsigned confidence; // 0: a success
    enum failure_reason reason;
};

struct rating rating_of(const struct picture *picture, const struct return_outcome *outcome);
// Whether nothing but its looks says that a positive number is a code.
bool rating_is_unproven(const struct picture *picture, const struct return_outcome *outcome,
                        struct rating rating);
// What a comment says about a number: enum documented. Comments about an error that was before are
// about that.
unsigned rating_documented(const struct picture *picture, int64_t number);

#endif
