// SPDX-License-Identifier: GPL-3.0-or-later
// Makes candidates from recorded calls and the faults that the user named.
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
    bool sweep; // only the first candidate of each series
    struct recording recording;
    // Results of library_candidates():
    uint64_t *made;     // number of candidates per fault; the caller frees it
    uint64_t uncertain; // calls left out, since not all runs made them
};

// Adds all candidates, in the order of the faults, then by function, process, program and
// occurrence or place.
_must_check_ struct error *library_candidates(struct library_plan *plan, candidate_add *add,
                                              void *data);
// Adds the candidate of one recorded call (after recording_settle()) and one fault. It fires
// whenever the place makes the call; with LIBRARY_STACK, at the occurrence at which the stack was
// first seen. `recording` holds the call.
_must_check_ struct error *library_one(struct library_plan *plan,
                                       const struct scenario_rule_view *rule,
                                       const struct recording *recording,
                                       const struct recorded_call *call, enum library_at at,
                                       candidate_add *add, void *data);
// Whether any recorded call matches the fault.
bool library_is_called(const struct library_plan *plan, size_t fault);
// Whether a function that matches a glob gets no candidates, because it never returns the fault's
// value: open*=-1 and opendir(). A function that the user named is never left out.
bool library_leaves_out(const struct library_plan *plan, size_t fault, const char *function);
// Makes the candidate of the next occurrence. Needs only the plan's mode.
_must_check_ struct error *library_next(const struct library_plan *plan,
                                        const struct candidate *last, struct candidate *ret_next);

#endif
