// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses faults automatically (faults: auto): all recorded calls that can fail, with the errors
// that really happen, the most promising first.
#ifndef ORDEAL_INJECTORS_LIBRARY_CHOICE_H
#define ORDEAL_INJECTORS_LIBRARY_CHOICE_H

#include "base/error.h"
#include "injector/call-candidates.h"
#include "injector/realism.h"

struct choice_options {
    const struct words *functions; // globs; all if NULL
    const struct words *modules;   // likewise, of the calling file's path or name
    const struct words *excluded;  // functions and modules
    bool paranoid;                 // also errors that hardly ever happen
    const char *directory;         // of the project under test, which comes first; or NULL
};
// Whether the options ask for this call from this place.
bool choice_is_wanted(const struct choice_options *options, const struct recorded_call *call,
                      const struct recorded_site *site);
// Likewise, the function alone, and the caller alone.
bool choice_is_wanted_function(const struct choice_options *options, const char *function);
bool choice_is_wanted_module(const struct choice_options *options, const char *path);
// Whether the row of the realism table (or NULL) is about this function, and not another one with
// the same name.
bool choice_is_known(const struct recorded_call *call, const struct realism *row);

struct descriptor_kinds; // watch.h
struct analysis;         // analysis.h
// Makes candidates from the recorded calls and from `stacks`, which the second run recorded. The
// order is that of enum stage (choosing.h): unchecked sites, partly checked ones, unknown ones,
// checked ones, calls by the C library, guessed failures, further stacks of the same sites. Code
// below the directory comes before all other code. Functions take turns. A candidate's `series` is
// the name of its stage. The analysis must be that of the plan's recording.
_must_check_ struct error *choice_candidates(struct call_plan *plan, struct recording *stacks,
                                             const struct descriptor_kinds *kinds,
                                             const struct analysis *analysis,
                                             const struct choice_options *options,
                                             candidate_add *add, void *data);

// Shots with a fault, and the calls they made. Calls that no reference run made belong to the code
// that handles the fault.
struct choice_followed {
    struct recording recording; // has a run for each shot; not settled
    ARRAY(char *) specs;        // of the shots
};
void choice_followed_deinit(struct choice_followed *followed);
// Adds the calls of one shot.
_must_check_ struct error *choice_follow(struct choice_followed *followed, const char *spec,
                                         const struct wire_view *view,
                                         struct journal_reader *reader);
// Makes candidates of second faults: for each place that only followed shots call from, one for
// each error that happens. The first fault is that of the first shot that got there. The spec has
// both rules; the series is CANDIDATE_SECOND.
_must_check_ struct error *choice_second_faults(struct call_plan *plan,
                                                const struct recording *stacks,
                                                const struct choice_followed *followed,
                                                const struct choice_options *options,
                                                candidate_add *add, void *data);

#endif
