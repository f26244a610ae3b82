// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that nobody had to name: of all calls that reference runs made, those that can fail, with
// the errors that really happen, in the order in which they are likely to show something.
#ifndef ORDEAL_CAMPAIGN_LIBRARY_CHOICE_H
#define ORDEAL_CAMPAIGN_LIBRARY_CHOICE_H

#include "base/error.h"
#include "campaign/library-candidates.h"

struct choice_options {
    const definition_words *functions; // globs; all if NULL
    const definition_words *modules;   // likewise, of the calling file's path or name
    const definition_words *excluded;  // functions and modules
    bool paranoid;                     // errors that hardly happen, too
};
// After the first run, which told no stacks apart: functions of which stacks are worth knowing, as
// rules that watch them. Walking the stack takes much longer than the calls of some functions; what
// is called very often is left out. *ret_any: there are some.
struct error *choice_watch_stacks(const struct recording *sites,
                                  const struct choice_options *options, struct scenario *scenario,
                                  bool *ret_any);

// From what the first run recorded, and of stacks what the others did. Sites first: those whose
// result nobody looks at, those where some failures go unnoticed, those nothing is known of, and
// those that are checked; then the C library's own, then further call stacks of the same sites. A
// candidate's `series` is the name of this class.
struct error *choice_candidates(struct library_plan *plan, struct recording *stacks,
                                const struct choice_options *options,
                                struct error *(*add)(void *data, struct candidate *candidate),
                                void *data);

// Shots with a fault and what they called: the code that handles the fault is in what no reference
// run called.
struct choice_followed {
    struct recording recording; // each shot is a run; not settled
    ARRAY(char *) specs;        // of the shots
};
void choice_followed_deinit(struct choice_followed *followed);
// Adds a shot.
struct error *choice_follow(struct choice_followed *followed, const char *spec,
                            const struct wire_view *view, struct witness *witness);
// Second faults: each place that only followed shots call from, once with each error that happens,
// after the first of the faults that lead there. The spec has both rules; the class is "second
// fault".
struct error *choice_deeper(struct library_plan *plan, const struct recording *stacks,
                            const struct choice_followed *followed,
                            const struct choice_options *options,
                            struct error *(*add)(void *data, struct candidate *candidate),
                            void *data);

#endif
