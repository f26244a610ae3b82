// SPDX-License-Identifier: GPL-3.0-or-later
// From what was found on the paths from a call to what is said of the site.
#ifndef ORDEAL_CALLSITE_JUDGE_H
#define ORDEAL_CALLSITE_JUDGE_H

#include "callsite/follow.h"

// Lanes told apart by those who get the result returned.
struct caller_checks {
    uint64_t by_all, by_some;
    uint32_t callers, checked, used; // used: do anything with it at all
};

void judge_paths(struct site *site, const struct follow_outcome *outcome, uint64_t failures);
// What the callers do decides for those failures that they get.
void judge_by_callers(struct site *site, const struct caller_checks *asked);
enum site_role judge_role(const struct possible_results *possible,
                          const struct follow_outcome *outcome);

#endif
