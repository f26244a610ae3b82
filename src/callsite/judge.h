// SPDX-License-Identifier: GPL-3.0-or-later
// Fills in a site from what was found on the paths from its call.
#ifndef ORDEAL_CALLSITE_JUDGE_H
#define ORDEAL_CALLSITE_JUDGE_H

#include "callsite/follow.h"

// What the callers of a function do with the failures that it returns. Masks are of lanes that all
// callers, or some of them, tell apart.
struct caller_checks {
    uint64_t by_all, by_some;
    uint32_t callers, checked, used; // used: callers that do anything with the result
};

void judge_paths(struct site *site, const struct follow_outcome *outcome, uint64_t failures);
// For failures that the callers get, their checks decide. `pointer`: the result is one.
void judge_by_callers(struct site *site, const struct caller_checks *checks, bool pointer);
enum site_role judge_role(const struct possible_results *possible,
                          const struct follow_outcome *outcome);

#endif
