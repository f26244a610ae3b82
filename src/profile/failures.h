// SPDX-License-Identifier: GPL-3.0-or-later
// Picks the failures from the outcomes of a function: what a user calls an error return.
#ifndef ORDEAL_PROFILE_FAILURES_H
#define ORDEAL_PROFILE_FAILURES_H

#include "profile/hints.h"
#include "profile/summary.h"

enum failure_reason {
    FAILURE_SETS_ERRNO,    // errno is set, too
    FAILURE_ERROR_NUMBERS, // the result is an error number, or one negated
    FAILURE_NEGATIVE,      // negative, where other results are not
    FAILURE_NULL,          // zero, where other results are pointers
    FAILURE_CODE,          // one of several positive results, where zero is success
    FAILURE_ALONE,         // the only constant result
    FAILURE_TRUTH,         // one of the two results of a yes-or-no function
    FAILURE_DOCUMENTED,    // a comment in a header says so
};
#define FAILURE_REASONS (FAILURE_DOCUMENTED + 1)
// "sets errno", …
const char *failure_reason_text(enum failure_reason reason);

// Failures with less confidence are not shown or used unless the user asks for them.
#define FAILURE_LIKELY 50

// FAILURE_CODE of which nothing but its looks says that it is one, and FAILURE_NEGATIVE of a number
// that is large for a code.
#define FAILURE_UNPROVEN 44

// FAILURE_TRUTH of a function that does something, and nothing says what its result means.
#define FAILURE_UNDECIDED  45
#define FAILURES_UNDECIDED "it cannot be told whether 0 or 1 is a failure of it"

// FAILURE_TRUTH with at least this confidence has signs of which of the two results it is.
#define FAILURE_TRUTH_SIGNS 70

struct failure {
    struct value result; // a constant or error numbers
    bool result_open;    // of error numbers: there may be others than those of `result`
    bool sets_error;
    bool error_open;    // errno may have other values than those of `error`
    struct value error; // of errno, if it is set
    uint8_t effect_count;
    struct effect effects[OUTCOME_EFFECTS];
    uint64_t evidence;  // link-time address of the instruction the result comes from
    uint8_t confidence; // 0 to 100
    uint8_t reason;     // enum failure_reason
    bool unproven;      // a code without a sign, which other functions may give
    bool forced;        // it takes nothing but the failure of functions of the system
    bool alone;         // no callee failed before, and nothing was reported
    bool gives;         // an out-parameter may be filled in, with what is not known
};

struct failures {
    ARRAY(struct failure) items; // most certain first
    bool pointer;                // the function seems to return a pointer
    bool narrow;                 // its result seems to be an int: the upper half means nothing
    bool zero_succeeds;          // zero is its only success
    bool cut;                    // there may be more
    bool pure;                   // the function only looks and computes
    const char *unknown;         // why nothing is known, or NULL; a constant text
};
void failures_deinit(struct failures *failures);

// `summary` may be NULL if the function's code was not found. `hints` is of enum hint. The name may
// say that a function is a predicate or comparison.
_must_check_ struct error *failures_of(const struct summary *summary, unsigned hints,
                                       const char *name, struct failures *ret_failures);

// Sets `fails` of every outcome. The search of the function's callers uses it.
void failures_mark(struct summary *summary, unsigned hints, const char *name);

#endif
