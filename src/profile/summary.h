// SPDX-License-Identifier: GPL-3.0-or-later
// All outcomes of a function: what it can return, with errno and effects.
#ifndef ORDEAL_PROFILE_SUMMARY_H
#define ORDEAL_PROFILE_SUMMARY_H

#include "profile/header/declared.h"
#include "profile/value.h"

#define OUTCOME_EFFECTS 4

enum effect_kind { EFFECT_GLOBAL, EFFECT_THREAD, EFFECT_ARGUMENT, EFFECT_OWN_THREAD };
struct effect { // a store that the caller can see
    uint8_t kind;
    uint8_t argument; // from 0
    uint8_t width;
    uint8_t source; // 0: `value` is stored; otherwise argument number source - 1
    int64_t where;  // address of a global, slot of a thread variable, offset of one of the module's
                    // own thread variables, or offset behind an argument
    int64_t value;
};

// How the last call ended whose result decided for this outcome.
enum outcome_after {
    OUTCOME_AFTER_FAILURE = 1,
    OUTCOME_AFTER_SUCCESS = 2,
    OUTCOME_AFTER_ANYTHING = 4,
    OUTCOME_AFTER_NULL = 8,     // there was none, but an argument is NULL
    OUTCOME_AFTER_REPORT = 16,  // a function was called that reports errors; may be added to others
    OUTCOME_GIVES = 32,         // something is stored where an argument points to; likewise
    OUTCOME_AFTER_SILENCE = 64, // no error was reported on some path; likewise
    // Something else than the failure of system functions may have decided: arguments, state, or
    // bytes that were read. May be added to others.
    OUTCOME_UNFORCED = 128,
    OUTCOME_FORCED = 256, // the opposite; only while a function is searched
    // It was reported that the function must not be called like this. May be added to others.
    OUTCOME_MISUSE = 512,
    OUTCOME_PROPER = 1024, // it was not, on some path; likewise
};
// Whether only a mistake of the caller leads to an outcome.
static inline bool outcome_is_misuse(unsigned after)
{
    return (after & (OUTCOME_MISUSE | OUTCOME_PROPER)) == OUTCOME_MISUSE;
}

struct return_outcome {
    struct value result;
    bool fails;         // it is likely to be a failure; set by failures_mark()
    bool asked;         // it is NULL because the function was given nothing; likewise
    uint16_t after;     // enum outcome_after, of all paths with this outcome
    bool sets_error;    // errno
    struct value error; // if so
    uint8_t effect_count;
    struct effect effects[OUTCOME_EFFECTS];
    uint64_t evidence; // link-time address of the instruction the result comes from
    // If `conditional`: the outcome only happens if argument number `argument` is within `when`.
    bool conditional;
    uint8_t argument;
    struct bounds when;
};

struct summary {
    ARRAY(struct return_outcome) outcomes;
    bool done, cut; // cut: the budget was not enough
    bool open;      // recursion: the function is still being searched, and outcomes will follow
    bool through_pointer; // a result is that of a function which is called through a pointer
    bool kept;            // a result is an int that was kept in an object
    bool asked;           // NULL is returned to who gives nothing: that outcome is left out
    bool reads;           // it is not sure that no memory is read but the stack and constants
    bool computed;        // a result is neither a constant nor 64 bits that were kept somewhere
    uint8_t declared;     // enum declared_result
    uint16_t documented;  // enum documented
    const struct enumeration *enumeration; // that is the declared type, or NULL
};
void summary_deinit(struct summary *summary);
// Frees memory that is reserved for more outcomes.
void summary_shrink(struct summary *summary);
// Adds an outcome, unless there is an equal one. If there are too many, sets `cut`.
_must_check_ struct error *summary_add(struct summary *summary,
                                       const struct return_outcome *outcome);

#endif
