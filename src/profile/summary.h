// SPDX-License-Identifier: GPL-3.0-or-later
// What a function can come back with: one entry per distinct way.
#ifndef ORDEAL_PROFILE_SUMMARY_H
#define ORDEAL_PROFILE_SUMMARY_H

#include "profile/value.h"

#define OUTCOME_EFFECTS 4

enum effect_kind { EFFECT_GLOBAL, EFFECT_THREAD, EFFECT_ARGUMENT, EFFECT_OWN_THREAD };
struct effect { // something stored where the caller can see it
    uint8_t kind;
    uint8_t argument; // from 0
    uint8_t width;
    uint8_t source; // 0: `value` is stored; otherwise the function's argument number source - 1
    int64_t where;  // address of a global, slot of a thread's variable, offset of one of the
                    // module's own thread variables, offset behind an argument
    int64_t value;
};

// What the last call before was whose result decided that it is this way.
enum outcome_after {
    OUTCOME_AFTER_FAILURE = 1,
    OUTCOME_AFTER_SUCCESS = 2,
    OUTCOME_AFTER_ANYTHING = 4,
    OUTCOME_AFTER_NULL = 8,    // there was none: an argument is NULL
    OUTCOME_AFTER_REPORT = 16, // besides: something was called that tells of errors
};

struct return_outcome {
    struct value result;
    bool fails;         // the result is likely to be a failure; nobody says so before all are known
    uint8_t after;      // enum way_after, of all that come back like this
    bool sets_error;    // errno
    struct value error; // if so
    uint8_t effect_count;
    struct effect effects[OUTCOME_EFFECTS];
    uint64_t evidence; // link-time address of the instruction the result comes from
    // It is this way only if argument number `argument` is within `when`. Said only of arguments
    // that appear among the values.
    bool conditional;
    uint8_t argument;
    struct bounds when;
};

struct summary {
    ARRAY(struct return_outcome) outcomes;
    bool done, cut; // cut: more than the budget allowed to look at
    bool open;      // calls go in a circle: it is still being looked at, there will be ways
};
void summary_deinit(struct summary *summary);
// Gives back the memory of what could still be added.
void summary_shrink(struct summary *summary);
// Unless there is an equal one.
_must_check_ struct error *summary_add(struct summary *summary,
                                       const struct return_outcome *outcome);

#endif
