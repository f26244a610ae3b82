// SPDX-License-Identifier: GPL-3.0-or-later
// From recorded calls and faults to candidates.
#ifndef ORDEAL_INJECTORS_LIBRARY_CANDIDATES_H
#define ORDEAL_INJECTORS_LIBRARY_CANDIDATES_H

#include "base/error.h"
#include "injector/injector.h"
#include "injectors/library/recording.h"
#include "scenario/scenario.h"

#include <stdbool.h>

enum library_at { LIBRARY_OCCURRENCE, LIBRARY_SITE, LIBRARY_STACK };

struct library_plan {
    struct scenario *faults; // one rule per fault
    enum library_at at;
    bool persistent;
    bool sweep; // the first of each series only
    struct recording recording;
    // Of library_candidates():
    uint64_t *made;     // number of candidates per fault; the caller frees it
    uint64_t uncertain; // calls that are none, since not all runs made them
};

// In the order of the faults, then by function, process, program and occurrence or place.
_must_check_ struct error *library_candidates(struct library_plan *plan, candidate_add *add,
                                              void *data);
// The candidate of one recorded call (after recording_settle()) and one fault: whenever its place
// calls, or, for LIBRARY_STACK, at the occurrence that it was first seen.
// `recording` is the one that has the call.
_must_check_ struct error *library_one(struct library_plan *plan,
                                       const struct scenario_rule_view *rule,
                                       const struct recording *recording,
                                       const struct recorded_call *call, enum library_at at,
                                       candidate_add *add, void *data);
// Whether the recorded calls are some that the fault is for.
bool library_is_called(const struct library_plan *plan, size_t fault);
// Whether a function that a glob stands for gets no candidates, because what the fault returns is
// nothing that it ever returns: open*=-1 and opendir(). One that was named is the user's choice.
bool library_leaves_out(const struct library_plan *plan, size_t fault, const char *function);
// The next occurrence; needs nothing but the plan's mode.
_must_check_ struct error *library_next(const struct library_plan *plan,
                                        const struct candidate *last, struct candidate *ret_next);

#endif
