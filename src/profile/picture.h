// SPDX-License-Identifier: GPL-3.0-or-later
// All outcomes of a function at one glance, with what its name says, and the questions that are
// asked of them to tell failures from successes and from ordinary ends.
#ifndef ORDEAL_PROFILE_PICTURE_H
#define ORDEAL_PROFILE_PICTURE_H

#include "profile/hints.h"
#include "profile/summary.h"

struct picture {
    const struct summary *summary;
    const char *name;
    unsigned hints;
    bool pointer, wide, narrow;
    bool pair;               // two words are returned, or a structure
    bool truth;              // declared to be a yes or no
    bool asks, compares;     // according to its name
    bool asks_error;         // likewise: its results are about an error that was before
    bool releases;           // likewise: it gives something up
    bool measures;           // likewise: its result is a size, a number of things or a position
    bool gets;               // likewise: its result is a property
    bool sorts;              // likewise: its result is a kind of something
    bool iterates;           // likewise: it goes on to the next of something
    bool checks;             // likewise: it checks something
    bool makes;              // likewise: it makes an object
    bool copies;             // likewise: it makes as much or another of what it is given
    bool takes;              // likewise: it takes something out of an object
    bool transforms;         // likewise: it turns data into other data
    bool finds;              // likewise: it looks for something
    bool reports;            // likewise: it reports an error
    bool timeout;            // likewise: its result is a time to wait
    bool other;              // a result that is not a constant
    bool zero, one;          // such a constant is a result
    bool negative, positive; // such constants are results
    bool negative_beside;    // such negative ones that are no limits
    bool negative_sets_errno, zero_sets_errno, positive_sets_errno;
    bool positive_spares_errno; // on some path such a number is returned without errno
    bool numbers;               // error numbers as a result
    bool negated_numbers;       // such with a minus
    unsigned distinct_positive, distinct_negative;
    int64_t largest;
    // Returned after a callee failed. What is returned after a failure is likely to be one.
    bool zero_after, one_after, positive_after;
    bool positive_caused;            // or because of a report, or of that alone
    bool positive_succeeds;          // returned after a callee succeeded
    bool zero_refuses;               // zero is returned because an argument is NULL
    bool negative_refuses;           // such a number is
    bool positive_refuses;           // likewise
    bool zero_gives, positive_gives; // an out-parameter is filled in
};

struct picture picture_of(const struct summary *summary, unsigned hints, const char *name);

// Whether errno is set. Storing 0 does not count: programs clear errno before they try something.
bool outcome_sets_errno(const struct return_outcome *outcome);
// Whether the result is the limit of a type, for a number that is too large or small: strtol().
bool outcome_is_limit(const struct return_outcome *outcome);
// -errno is an error number, whatever errno was before. errno may be 0.
bool value_is_numbers(const struct value *result);

// OUTCOME_AFTER_* of all outcomes with a result.
unsigned picture_after(const struct picture *picture, int64_t number);
// Whether a result is returned after a failure. `only`: and never after a success.
bool picture_after_failure(const struct picture *picture, int64_t number, bool only);
// Whether an error was reported before this result was returned.
bool picture_reported(const struct picture *picture, int64_t number);

// Whether a result comes with a status that is stored in an object or variable, and with which: not
// one of its outcomes stores another.
enum picture_status {
    STATUS_NONE,
    STATUS_GOOD, // 0, where other results store the code that they are
    STATUS_BAD,  // one of several codes, where positive results store 0
};
enum picture_status picture_status(const struct picture *picture, int64_t number);

// Whether a result is also stored where others see it, as the code of the last error is.
bool picture_keeps(const struct picture *picture, int64_t number);

// Whether positive results are 1, 2, 3, … without a gap: then they name things, not errors.
bool picture_enumerates(const struct picture *picture);
// Whether 1, 2, … are the first numbers of a count, which goes on with what is computed.
bool picture_counts(const struct picture *picture);
// Whether numbers follow successes alone, and zero failures alone.
bool picture_divides(const struct picture *picture);
// Whether positive results are answers: they come from successes, and zero alone from failures. Or
// the name says that they are, and none of them has a cause.
bool picture_answers(const struct picture *picture);
// Whether a negative result says that there is no more. Either the name says that the next of
// something is asked for, or it is -1 beside -2 for failures: only that has a cause.
bool picture_is_end(const struct picture *picture, int64_t number);
// Whether a failure, or a report of one, leads to a result on some path.
bool picture_has_cause(const struct picture *picture, int64_t number);
// Whether a result is returned for a NULL, or for a size of zero, and never else.
bool picture_only_for_null(const struct picture *picture, int64_t number);
// Whether zero is the copy of NULL, or new memory of no size, and nothing else.
bool picture_zero_is_asked_for(const struct picture *picture);
// Whether zero says so, or that there is nothing, or is the argument itself: no failure.
bool picture_zero_is_end(const struct picture *picture);

#endif
