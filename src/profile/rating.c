// SPDX-License-Identifier: GPL-3.0-or-later
// Rates the outcomes of a function. These are the heuristics of section 2.1 of the LFI article with
// more evidence: errno, the sign of the other results, what callers do with the result. Every rule
// gives a confidence; only what is certainly a success is dropped.
#include "profile/rating.h"

#include "profile/header/documented.h"
#include "profile/names.h"

#include <errno.h>

#define LARGEST_CODE    4095
#define SMALLEST_CODE   256        // smaller numbers may be characters
#define MANY            8          // different results
#define SMALLEST_RESULT (-1000000) // smaller numbers are unlikely to mean an error
#define DOCUMENTED      75         // confidence
#define NAMED           70

// Whether -1, 0 and 1 are numbers like the others that a function computes: lround().
static bool computes_sign(const struct picture *picture)
{
    return (picture->hints & HINT_WORKS) == 0 && !picture->summary->reads && picture->other &&
           picture->one && picture->zero && picture->distinct_positive == 1 &&
           picture->distinct_negative == 1 && !picture->negative_sets_errno;
}

// Whether 0 and -1 are a no and a yes, all bits of it. The type says so, or 0 follows failures
// alone and -1 successes alone.
static bool yes_is_negative(const struct picture *picture)
{
    unsigned yes = picture_after(picture, -1);
    const unsigned bad = OUTCOME_AFTER_FAILURE | OUTCOME_AFTER_REPORT | OUTCOME_AFTER_NULL;
    if (!picture->zero || picture->positive || picture->other || picture->numbers ||
        picture->negated_numbers || picture->distinct_negative != 1 || yes == 0)
        return false;
    return picture->truth ||
           (picture_after_failure(picture, 0, true) && (yes & OUTCOME_AFTER_SUCCESS) != 0 &&
            (yes & bad) == 0 && !picture->negative_sets_errno);
}

static struct rating judge_negative(const struct picture *picture,
                                    const struct return_outcome *outcome)
{
    bool small = outcome->result.number >= SMALLEST_RESULT;
    if (picture->truth || yes_is_negative(picture))
        return (struct rating){30, FAILURE_NEGATIVE};
    if (outcome_is_limit(outcome) && picture->zero_after && !picture->negative_beside)
        return (struct rating){40, FAILURE_NEGATIVE};
    if (picture_is_end(picture, outcome->result.number) || computes_sign(picture) ||
        (picture->timeout && picture->other && outcome->result.number == -1 &&
         !outcome_sets_errno(outcome)))
        return (struct rating){40, FAILURE_NEGATIVE};
    // If -1 sets errno and there are many other results, then the other negative ones are answers.
    if (picture->distinct_positive >= MANY && picture->negative_sets_errno &&
        outcome->result.number != -1)
        return (struct rating){30, FAILURE_NEGATIVE};
    // An order, of which the answer to a question is made.
    if (picture->asks && outcome->result.number == -1 && picture->other &&
        !picture->negative_refuses && !picture_has_cause(picture, -1) &&
        !outcome_sets_errno(outcome))
        return (struct rating){40, FAILURE_NEGATIVE};
    if (outcome_sets_errno(outcome))
        return (struct rating){picture->pointer && outcome->result.number != -1 ? 70 : 95,
                               FAILURE_SETS_ERRNO};
    // What is surely a pointer may be -1 for none: MAP_FAILED.
    bool no_pointer =
        picture->summary->declared == DECLARED_POINTER && outcome->result.number == -1;
    if (picture->pointer && picture->other && !picture->negated_numbers &&
        !no_pointer) // pointers are not negative
        return (struct rating){35, FAILURE_NEGATIVE};
    // Only a wrong pointer gives EFAULT. If it is the only negative constant, the code compares
    // with it and does not return it.
    if (outcome->result.number == -EFAULT && picture->distinct_negative == 1)
        return (struct rating){30, FAILURE_ERROR_NUMBERS};
    if (picture->compares) {
        bool acts = (picture->hints & HINT_ACTS) != 0 && !picture->positive;
        bool fails = outcome->result.number < -1 || acts;
        return (struct rating){fails && small ? 55 : 25, FAILURE_NEGATIVE};
    }
    if (picture->other || picture->zero || picture->positive || picture->negated_numbers)
        return (struct rating){small ? 85 : FAILURE_UNPROVEN, FAILURE_NEGATIVE};
    return (struct rating){small ? 60 : 25, FAILURE_ALONE};
}

// Whether 1 is returned after a failure, perhaps the end of what was read, and 0 because an
// argument is NULL: either may be the failure.
static bool has_conflict(const struct picture *picture)
{
    return picture->one_after && picture->zero_refuses && !picture->positive_refuses;
}

// For a function that returns 0 or 1: whether 1 means failure.
static bool one_fails(const struct picture *picture)
{
    if (picture->truth) // yes is the success
        return false;
    unsigned after = picture_after(picture, 1);
    bool succeeds = (after & OUTCOME_AFTER_SUCCESS) != 0;
    bool question = picture->asks || picture->compares;
    if (picture->positive_gives && !picture->zero_gives)
        return false;
    if (picture_reported(picture, 1) != picture_reported(picture, 0))
        return picture_reported(picture, 1) &&
               !(succeeds && (after & OUTCOME_AFTER_SILENCE) != 0) && !question;
    if (question || picture->zero_after)
        return false;
    if (picture->zero_gives && !picture->positive_gives)
        return true;
    if (picture->positive_sets_errno && !picture->positive_spares_errno &&
        !picture->zero_sets_errno)
        return true;
    if (has_conflict(picture))
        return false;
    if (picture->positive_refuses && !picture->zero_refuses && (picture->hints & HINT_ACTS) != 0 &&
        picture_only_for_null(picture, 1))
        return true;
    return (picture->hints & HINT_ACTS) != 0 && (after & OUTCOME_AFTER_FAILURE) != 0 && !succeeds;
}

// Rates 0 of a function that returns 0 or 1. It is no failure of functions that only answer a
// question.
static struct rating judge_truth(const struct picture *picture, bool error)
{
    if (one_fails(picture))
        return (struct rating){0, FAILURE_TRUTH};
    if (has_conflict(picture) && !picture->zero_after && !picture_reported(picture, 0))
        return (struct rating){FAILURE_UNDECIDED, FAILURE_TRUTH};
    if (picture->iterates && !error) // there is no more
        return (struct rating){40, FAILURE_TRUTH};
    bool gives = picture->positive_gives && !picture->zero_gives;
    // A property that is a yes or no. It may be kept by whoever is called through a pointer.
    if (picture->truth && picture->gets && !gives &&
        (picture->summary->through_pointer || (picture->hints & HINT_KEYED) == 0))
        return (struct rating){20, FAILURE_TRUTH};
    if (((picture->zero_after && !picture->one_after) || gives) && !picture->asks &&
        !picture->compares)
        return (struct rating){75, FAILURE_TRUTH};
    bool checks = picture->checks && !picture_reported(picture, 0);
    bool question = picture->asks || picture->compares || picture->iterates || checks ||
                    (picture->hints & HINT_ACTS) == 0;
    // It may be a question as well. That something is done has to be said.
    bool number = picture->summary->declared == DECLARED_NUMBER;
    bool reported = picture_reported(picture, 0) && !picture_reported(picture, 1);
    bool done = reported || name_does(picture->name) || (!number && name_acts(picture->name));
    return (struct rating){question ? 20
                           : error  ? 70
                           : done   ? 60
                                    : FAILURE_UNDECIDED,
                           FAILURE_TRUTH};
}

// Whether 1, 0 and -1 mean success, failure and a worse failure. Several negative results are
// codes, and then 0 is the success.
static bool fails_beside_negative(const struct picture *picture)
{
    return picture->negative && picture->distinct_negative <= 2 && picture->one &&
           picture->distinct_positive == 1 && !picture->asks && !picture->compares &&
           !picture->one_after && !picture_reported(picture, 1) &&
           (picture->positive_gives || picture->positive_succeeds) &&
           (picture_after_failure(picture, 0, true) || picture_reported(picture, 0));
}

// Whether there is one positive result, and an out-parameter is filled in with it alone: then it is
// the success.
static bool only_positive_gives(const struct picture *picture)
{
    return picture->positive_gives && !picture->zero_gives && picture->zero &&
           (picture->one || !picture->other) && !picture->negative &&
           picture->distinct_positive == 1 && !picture->asks && !picture->compares;
}

// Whether several large codes differ in their lowest byte alone: com_err makes such tables.
static bool in_table(const struct picture *picture, int64_t number)
{
    bool others = false;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct value *result = &picture->summary->outcomes.items[i].result;
        if (result->kind != VALUE_CONSTANT || result->number <= LARGEST_CODE)
            continue;
        if (result->number >> 8 != number >> 8)
            return false;
        others |= result->number != number;
    }
    return others && number > UINT16_MAX && number <= INT32_MAX;
}

// Whether the name or the declaration says that the function makes an object, but it does nothing,
// or reports an error, and returns zero: it is not implemented. If zero were the success, it would
// have to put the object somewhere.
static bool makes_nothing(const struct picture *picture)
{
    bool pointer = picture->summary->declared == DECLARED_POINTER;
    bool reported = pointer && picture_reported(picture, 0); // that it is not
    bool object = picture->makes || (pointer && !picture->gets) || reported;
    return object && picture->zero && !picture->other && !picture->positive && !picture->negative &&
           !picture->numbers && !picture->negated_numbers &&
           ((picture->hints & (HINT_WORKS | HINT_ACTS)) == 0 || reported);
}

// Whether zero beside computed sizes says that nothing could be made of the data.
static bool transforms_nothing(const struct picture *picture)
{
    return picture->transforms && picture->other && picture->summary->computed &&
           !picture->summary->through_pointer && !picture->measures && !picture->asks &&
           picture->distinct_positive == picture->one;
}

static struct rating judge_zero(const struct picture *picture, const struct return_outcome *outcome)
{
    // Beside a number that was kept, zero stands for none, also where none was found for an error.
    // So does it beside what a pointer leads to: it may be a success of that.
    bool handed = picture->narrow && picture->summary->through_pointer;
    bool after = (outcome->after & OUTCOME_AFTER_FAILURE) != 0 && !handed &&
                 picture_after_failure(picture, 0, picture->narrow && picture->summary->kept);
    // With a pointer as the answer, it is a lookup.
    bool asks = (picture->asks || picture->compares) && !picture->wide;
    bool error = outcome_sets_errno(outcome);
    if (picture->asks_error ||
        (picture->reports && !picture->pointer)) // there was none; it is told
        return (struct rating){20, FAILURE_NULL};
    if (makes_nothing(picture))
        return (struct rating){55, FAILURE_NULL};
    if (picture->releases && picture->other && !picture->narrow) // nothing is left
        return (struct rating){20, FAILURE_NULL};
    if (picture_zero_is_end(picture))
        return (struct rating){40, FAILURE_NULL};
    if (picture->pointer && picture->other)
        return (struct rating){error ? 95 : 85, error ? FAILURE_SETS_ERRNO : FAILURE_NULL};
    if (fails_beside_negative(picture))
        return (struct rating){FAILURE_TRUTH_SIGNS, FAILURE_TRUTH};
    if (yes_is_negative(picture))
        return judge_truth(picture, error);
    bool limits = after && !picture->negative_beside; // what is read from a text may fail before
    if ((picture->negative && !limits) || picture->numbers || picture->negated_numbers)
        return (struct rating){0, FAILURE_NULL};
    if (picture_status(picture, 0) == STATUS_BAD)
        return (struct rating){FAILURE_TRUTH_SIGNS, FAILURE_TRUTH};
    if (picture->truth || (picture->one && picture->distinct_positive == 1 && !picture->other))
        return judge_truth(picture, error);
    if (only_positive_gives(picture))
        return (struct rating){70, FAILURE_TRUTH};
    if (picture_divides(picture) && !asks)
        return (struct rating){60, FAILURE_NULL};
    if (transforms_nothing(picture) && !error && !after)
        return (struct rating){60, FAILURE_NULL};
    if (picture->finds && picture->other && !picture->positive && !asks &&
        !picture->measures) // it is not there
        return (struct rating){error ? 80 : 60, FAILURE_NULL};
    if (picture->positive && (!picture->wide || in_table(picture, picture->largest)))
        return (struct rating){error && !picture->narrow && !picture->wide ? 35 : 0,
                               FAILURE_SETS_ERRNO};
    if (error && picture->other)
        return (struct rating){picture->wide ? 80 : picture->narrow ? 25 : 55, FAILURE_SETS_ERRNO};
    // A number that was kept may be zero without an error.
    bool reported =
        picture_reported(picture, 0) && (!picture->narrow || !picture->summary->kept ||
                                         (picture_after(picture, 0) & OUTCOME_AFTER_SILENCE) == 0);
    bool counts = (picture->hints & HINT_MADE_COUNT) != 0 || picture->measures;
    if (picture->other && !picture->positive && !after && counts && !picture_reported(picture, 0))
        return (struct rating){30, FAILURE_NULL}; // what is counted may be none
    // 64 bits are a pointer, unless they are declared to be a number.
    bool pointer = picture->wide && picture->summary->declared != DECLARED_LONG;
    if (picture->other && !picture->positive)
        return (struct rating){asks              ? 20
                               : pointer         ? 62
                               : after           ? 60
                               : reported        ? 60
                               : picture->narrow ? 20
                                                 : 45,
                               FAILURE_NULL};
    return (struct rating){0, FAILURE_NULL};
}

// Whether codes have the number of a component in their upper half, the same for all. If it is in
// the highest byte, the codes may be large: those of system errors are.
static bool has_source(const struct picture *picture, int64_t number)
{
    int64_t code = number & 0xffff;
    bool high = number >> 24 != 0 && (number >> 16 & 0xff) == 0;
    if (number > INT32_MAX || code == 0 || !picture->zero ||
        (code > LARGEST_CODE && (!high || picture->distinct_positive == 1)))
        return false;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct value *result = &picture->summary->outcomes.items[i].result;
        if (result->kind == VALUE_CONSTANT && result->number != 0 &&
            result->number >> 16 != number >> 16)
            return false;
    }
    return true;
}

// Whether something tells that a number is the code of a failure: what led to it, errno, what is
// given with zero alone, or that it is also kept in an object.
static bool has_sign(const struct picture *picture, const struct return_outcome *outcome)
{
    int64_t number = outcome->result.number;
    return picture_has_cause(picture, number) || outcome_sets_errno(outcome) ||
           (picture_after(picture, number) & OUTCOME_AFTER_NULL) != 0 ||
           (picture->zero_gives && !picture->positive_gives) || picture_keeps(picture, number);
}

// That there are several numbers tells nothing: they may be counts, kinds, steps or states. Those
// begin with 1 and 2, so a larger one is a code if another one is, or if there is no 1 and no 2.
static bool is_proven(const struct picture *picture, const struct return_outcome *outcome)
{
    bool small = false;
    if (has_sign(picture, outcome))
        return true;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *other = &picture->summary->outcomes.items[i];
        int64_t number = other->result.number;
        if (outcome->result.number <= 2 || other->result.kind != VALUE_CONSTANT || number <= 0)
            continue;
        if (number > 2 && has_sign(picture, other))
            return true;
        small |= number <= 2 && !has_sign(picture, other);
    }
    return outcome->result.number > 2 && !small;
}

// Whether a number that is got is one of several flags, or made of them: others are too large for
// codes and in no table of codes.
static bool is_flag(const struct picture *picture)
{
    return picture->gets && !picture->negative && !picture->zero_gives &&
           picture->largest > LARGEST_CODE && picture->distinct_positive > 1 &&
           !in_table(picture, picture->largest) && !has_source(picture, picture->largest);
}

static struct rating judge_positive(const struct picture *picture,
                                    const struct return_outcome *outcome)
{
    int64_t number = outcome->result.number;
    if (is_flag(picture))
        return (struct rating){20, FAILURE_CODE};
    if (picture->pointer || picture->truth || only_positive_gives(picture))
        return (struct rating){0, FAILURE_CODE};
    if (picture_status(picture, 0) == STATUS_BAD || picture_status(picture, number) == STATUS_GOOD)
        return (struct rating){20, FAILURE_CODE};
    if ((picture->measures || picture->gets) && (picture->hints & HINT_WORKS) == 0 &&
        !picture->positive_refuses)
        return (struct rating){20, FAILURE_CODE}; // a size or property that is known
    if (picture->iterates && picture->distinct_positive > 1 && !picture->positive_caused &&
        !outcome_sets_errno(outcome))
        return (struct rating){20, FAILURE_CODE}; // what came next, or that nothing did
    if (picture->numbers && !picture->negative && number < ERROR_NUMBERS)
        return (struct rating){70, FAILURE_ERROR_NUMBERS};
    if (picture->negated_numbers)
        return (struct rating){0, FAILURE_CODE};
    if (picture->negative && !picture->other && !picture->zero_after && !picture->compares &&
        !picture->asks &&
        picture_after_failure(picture, number, number == 1 || picture->distinct_positive > 2))
        return (struct rating){60, FAILURE_CODE};
    bool wide = (picture->hints & (HINT_WIDE | HINT_MADE_WIDE)) != 0;
    if (picture->negative && picture->zero && !wide && number >= SMALLEST_CODE &&
        number <= LARGEST_CODE)
        return (struct rating){55, FAILURE_CODE};
    if (picture->negative)
        return (struct rating){outcome_sets_errno(outcome) && !picture->negative_sets_errno ? 40
                                                                                            : 0,
                               FAILURE_SETS_ERRNO};
    bool maps = picture->other && (picture->hints & HINT_WORKS) == 0; // one number to another
    if (number > LARGEST_CODE && !maps &&
        ((!picture->wide && has_source(picture, number)) ||
         (picture->zero && in_table(picture, number))))
        return (struct rating){60, FAILURE_CODE};
    if (number > LARGEST_CODE || maps || (picture->wide && !outcome_sets_errno(outcome)) ||
        picture->asks || picture_answers(picture))
        return (struct rating){20, FAILURE_CODE};
    // What is given with zero alone says enough, even if there may be other results.
    bool refused = picture->zero_gives && !picture->positive_gives;
    if (number == 1 && picture->distinct_positive == 1)
        return (struct rating){!picture->zero                                       ? 15
                               : one_fails(picture) && (!picture->other || refused) ? 70
                                                                                    : 0,
                               picture->zero ? FAILURE_TRUTH : FAILURE_ALONE};
    if (!picture->zero && !picture->other) // all results are like this, so some are successes
        return (struct rating){30, FAILURE_CODE};
    // Without zero there is no success beside a code. A number that stands in for one that could
    // not be found out is a success, too.
    if (!picture->zero && (picture->distinct_positive == 1 || picture->distinct_positive >= MANY))
        return (struct rating){45, FAILURE_CODE};
    if (outcome_sets_errno(outcome) && !picture->zero_sets_errno)
        return (struct rating){65, FAILURE_SETS_ERRNO};
    if (picture_counts(picture))
        return (struct rating){40, FAILURE_CODE};
    if (picture_enumerates(picture))
        return (struct rating){picture->positive_after && !picture->zero_after ? 60 : 40,
                               FAILURE_CODE};
    if (number == 1)
        return (struct rating){55, FAILURE_CODE};
    return (struct rating){picture->zero && !picture->other ? 80 : 60, FAILURE_CODE};
}

bool rating_is_unproven(const struct picture *picture, const struct return_outcome *outcome,
                        struct rating rating)
{
    return rating.reason == FAILURE_CODE && outcome->result.kind == VALUE_CONSTANT &&
           !is_proven(picture, outcome);
}

// Lowers the confidence if no caller uses the result: it may be a leftover of a void function.
static unsigned doubt(unsigned hints, bool error, unsigned confidence)
{
    if ((hints & HINT_USED) != 0)
        return confidence;
    if ((hints & HINT_MADE) == 0) {
        unsigned most = (hints & HINT_PASSED) != 0 ? confidence * 4 / 5 : 49;
        return confidence < most ? confidence : most;
    }
    bool passed = (hints & HINT_PASSED) != 0 && (hints & HINT_CALLED_TWICE) != 0;
    return passed && !error ? confidence * 3 / 5 : confidence;
}

// Who has negative codes does not return positive error numbers: they were lost track of. Who has
// nothing else has left them behind.
static unsigned rate_numbers(const struct picture *picture, const struct return_outcome *outcome)
{
    if (outcome->result.negative)
        return 90;
    bool codes = picture->negated_numbers || picture->negative;
    return codes || (!picture->zero && !picture->other) ? 40 : 80;
}

unsigned rating_documented(const struct picture *picture, int64_t number)
{
    unsigned documented = picture->asks_error ? 0 : picture->summary->documented;
    if (number == 0)
        return documented & (DOCUMENTED_ZERO_FAILS | DOCUMENTED_ZERO_SUCCEEDS);
    if (number < 0)
        return documented & (DOCUMENTED_NEGATIVE_FAILS | DOCUMENTED_NEGATIVE_SUCCEEDS);
    return documented & (DOCUMENTED_POSITIVE_FAILS | DOCUMENTED_POSITIVE_SUCCEEDS);
}

// Names of an enumeration tell more than signs in the code.
static struct rating look_up(const struct picture *picture, int64_t number, struct rating rating)
{
    const struct enumeration *enumeration = picture->summary->enumeration;
    if (enumeration == NULL || picture->asks_error)
        return rating;
    enum enumeration_meaning meaning = enumeration_tells(enumeration, number);
    bool gives_none = number == 0 && (picture->other || picture->positive) &&
                      enumeration_lacks(enumeration, number);
    if (gives_none && rating.confidence < NAMED)
        return (struct rating){NAMED, FAILURE_NULL};
    if (meaning == ENUMERATION_FAILURE && rating.confidence < NAMED)
        return (struct rating){NAMED, FAILURE_DOCUMENTED};
    if (meaning == ENUMERATION_ANSWER && rating.confidence > 20)
        rating.confidence = 20;
    return rating;
}

// So do comments, which are about the function itself.
static struct rating consult(const struct picture *picture, const struct return_outcome *outcome,
                             struct rating rating)
{
    int64_t number = outcome->result.number;
    unsigned told = rating_documented(picture, number);
    unsigned all = picture->summary->documented;
    bool only_zero = (all & DOCUMENTED_FAILS) == DOCUMENTED_ZERO_FAILS;
    bool question = (all & DOCUMENTED_TRUTH) != 0 && picture->truth && picture->gets;
    bool code = number != 0 && (all & DOCUMENTED_CODES) != 0 && number >= SMALLEST_RESULT;
    bool checks = picture->checks && picture->negative; // 1, 0 and -1: yes, no and a failure
    bool asks = (picture->asks || picture->compares || checks) && number == 0 && !picture->pointer;
    if (((told & DOCUMENTED_FAILS) != 0 || (told == 0 && code)) && rating.confidence < DOCUMENTED &&
        !asks)
        return (struct rating){DOCUMENTED, FAILURE_DOCUMENTED};
    bool fine = told != 0 || (number > 0 && only_zero && (all & DOCUMENTED_CODES) == 0) || question;
    if (fine && (told & DOCUMENTED_FAILS) == 0 && rating.confidence > 20)
        rating.confidence = 20;
    if ((all & DOCUMENTED_COUNT) != 0 && number >= 0 && !picture->pointer && !picture->truth &&
        !outcome_sets_errno(outcome) && rating.confidence > 40)
        rating.confidence = 40; // a number, which may be zero
    return rating;
}

static bool fits_int(int64_t number)
{
    return number >= INT32_MIN && number <= UINT32_MAX;
}

struct rating rating_of(const struct picture *picture, const struct return_outcome *outcome)
{
    struct rating rating = {0};
    if (value_is_numbers(&outcome->result))
        rating = (struct rating){rate_numbers(picture, outcome), FAILURE_ERROR_NUMBERS};
    else if (outcome->result.kind != VALUE_CONSTANT)
        return rating;
    else if (picture->summary->declared == DECLARED_NUMBER && !fits_int(outcome->result.number))
        return (struct rating){0, FAILURE_NEGATIVE}; // a limit of strtol(), of which atoi() is made
    else if (picture->pair)                          // the first word alone says nothing
        rating = (struct rating){20, FAILURE_ALONE};
    else if (outcome_is_misuse(picture_after(picture, outcome->result.number)))
        rating = (struct rating){40, FAILURE_ALONE};
    else if (outcome->result.number < 0)
        rating = judge_negative(picture, outcome);
    else if (outcome->result.number == 0)
        rating = judge_zero(picture, outcome);
    else
        rating = judge_positive(picture, outcome);
    rating.confidence = doubt(picture->hints, outcome_sets_errno(outcome), rating.confidence);
    // Such a code is shown only if other functions of the library have it, with a sign.
    if (rating.confidence >= FAILURE_LIKELY && rating_is_unproven(picture, outcome, rating))
        rating.confidence = FAILURE_UNPROVEN;
    bool constant =
        outcome->result.kind == VALUE_CONSTANT && rating.reason != FAILURE_ERROR_NUMBERS;
    if (!constant || picture->pair)
        return rating;
    rating = look_up(picture, outcome->result.number, rating);
    return consult(picture, outcome, rating);
}
