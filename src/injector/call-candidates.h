// SPDX-License-Identifier: GPL-3.0-or-later
// Makes candidates from recorded calls and the faults that the user named.
#ifndef ORDEAL_INJECTOR_CALL_CANDIDATES_H
#define ORDEAL_INJECTOR_CALL_CANDIDATES_H

#include "base/error.h"
#include "injector/injector.h"
#include "injector/recording.h"
#include "scenario/scenario.h"

#include <stdbool.h>

enum call_at { CALL_AT_OCCURRENCE, CALL_AT_SITE, CALL_AT_STACK };

struct call_plan {
    struct scenario *faults; // one rule per fault
    enum call_at at;
    bool persistent;
    bool sweep; // only the first candidate of each series
    struct recording recording;
    // Results of call_candidates():
    uint64_t *made;     // number of candidates per fault; the caller frees it
    uint64_t uncertain; // calls left out, since not all runs made them
};

// Adds all candidates, in the order of the faults, then by function, process, program and
// occurrence or place.
_must_check_ struct error *call_candidates(struct call_plan *plan, candidate_add *add, void *data);
// Adds the candidate of one recorded call (after recording_settle()) and one fault. It fires
// whenever the place makes the call; with CALL_AT_STACK, at the occurrence at which the stack was
// first seen. `recording` holds the call.
_must_check_ struct error *call_candidates_one(struct call_plan *plan,
                                               const struct scenario_rule_view *rule,
                                               const struct recording *recording,
                                               const struct recorded_call *call, enum call_at at,
                                               candidate_add *add, void *data);
// Whether any recorded call matches the fault.
bool call_plan_is_called(const struct call_plan *plan, size_t fault);
// Of a fault without candidates that is part of a class (%file): whether it needs no remark, since
// another member has candidates or a member before it stands for all of them.
bool call_plan_is_idle_member(const struct call_plan *plan, size_t fault,
                              bool *ret_stands_for_class);
// Whether a function that matches a glob gets no candidates, because it never returns the fault's
// value: open*=-1 and opendir(). A function that the user named is never left out.
bool call_plan_leaves_out(const struct call_plan *plan, size_t fault, const char *function);
// Makes the candidate of the next occurrence. Needs only the plan's mode.
_must_check_ struct error *call_candidates_next(const struct call_plan *plan,
                                                const struct candidate *last,
                                                struct candidate *ret_next);

#endif
