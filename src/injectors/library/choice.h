// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that nobody had to name: of all calls that reference runs made, those that can fail, with
// the errors that really happen, in the order in which they are likely to show something.
#ifndef ORDEAL_INJECTORS_LIBRARY_CHOICE_H
#define ORDEAL_INJECTORS_LIBRARY_CHOICE_H

#include "base/error.h"
#include "injectors/library/candidates.h"
#include "injectors/library/realism.h"

struct choice_options {
    const struct words *functions; // globs; all if NULL
    const struct words *modules;   // likewise, of the calling file's path or name
    const struct words *excluded;  // functions and modules
    bool paranoid;                 // errors that hardly happen, too
    const char *directory;         // in which is what matters most; or NULL
};
// What the options ask for of the calls of a function from a place.
bool choice_is_wanted(const struct choice_options *options, const struct recorded_call *call,
                      const struct recorded_site *site);
// Whether the table's row (NULL: there is none) is about this function, and not another of the
// name.
bool choice_is_known(const struct recorded_call *call, const struct realism *row);

struct kinds;    // library-watch.h
struct analysis; // library-analysis.h
// From what the runs recorded, and of stacks the second of them. Sites first: those whose
// result nobody looks at, those where some failures go unnoticed, those nothing is known of, and
// those that are checked; then the C library's own, what is guessed, and further call stacks of the
// same sites; all of it first in what is below the directory. Functions take turns. A
// candidate's `series` is the name of this class. The analysis is of the first recording.
_must_check_ struct error *choice_candidates(struct library_plan *plan, struct recording *stacks,
                                             const struct kinds *kinds,
                                             const struct analysis *analysis,
                                             const struct choice_options *options,
                                             candidate_add *add, void *data);

// Shots with a fault and what they called: the code that handles the fault is in what no reference
// run called.
struct choice_followed {
    struct recording recording; // each shot is a run; not settled
    ARRAY(char *) specs;        // of the shots
};
void choice_followed_deinit(struct choice_followed *followed);
// Adds a shot.
_must_check_ struct error *choice_follow(struct choice_followed *followed, const char *spec,
                                         const struct wire_view *view,
                                         struct journal_reader *reader);
// Second faults: each place that only followed shots call from, once with each error that happens,
// after the first of the faults that lead there. The spec has both rules; the class is "second
// fault".
_must_check_ struct error *choice_deeper(struct library_plan *plan, const struct recording *stacks,
                                         const struct choice_followed *followed,
                                         const struct choice_options *options, candidate_add *add,
                                         void *data);

#endif
