// SPDX-License-Identifier: GPL-3.0-or-later
// Rates the outcomes of a function. These are the heuristics of section 2.1 of the LFI article with
// more evidence: errno, the sign of the other results, what callers do with the result. Every rule
// gives a confidence; only what is certainly a success is dropped.
#include "profile/failures.h"

#include "base/cleanup.h"
#include "profile/documented.h"
#include "profile/names.h"
#include "profile/picture.h"

#include <errno.h>
#include <stdlib.h>

#define LARGEST_CODE    4095
#define SMALLEST_CODE   256        // smaller numbers may be characters
#define MANY            8          // different results
#define SMALLEST_RESULT (-1000000) // smaller numbers are unlikely to mean an error
#define DOCUMENTED      75         // confidence

static const char *const texts[FAILURE_REASONS] = {
    [FAILURE_SETS_ERRNO] = "sets errno",
    [FAILURE_ERROR_NUMBERS] = "error numbers",
    [FAILURE_NEGATIVE] = "negative beside other results",
    [FAILURE_NULL] = "NULL beside pointers",
    [FAILURE_CODE] = "code beside zero",
    [FAILURE_ALONE] = "only constant result",
    [FAILURE_TRUTH] = "yes or no",
    [FAILURE_DOCUMENTED] = "documented",
};

const char *failure_reason_text(enum failure_reason reason)
{
    return texts[reason];
}

void failures_deinit(struct failures *failures)
{
    ARRAY_DEINIT(&failures->items);
}

struct rating {
    unsigned confidence; // 0: a success
    enum failure_reason reason;
};

// Whether -1, 0 and 1 are numbers like the others that a function computes: lround().
static bool computes_sign(const struct picture *picture)
{
    return (picture->hints & HINT_WORKS) == 0 && !picture->summary->reads && picture->other &&
           picture->one && picture->zero && picture->distinct_positive == 1 &&
           picture->distinct_negative == 1 && !picture->negative_sets_errno;
}

static struct rating judge_negative(const struct picture *picture,
                                    const struct return_outcome *outcome)
{
    bool small = outcome->result.number >= SMALLEST_RESULT;
    if (picture->truth)
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
        return (struct rating){small ? 85 : 40, FAILURE_NEGATIVE};
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
        return (struct rating){45, FAILURE_TRUTH};
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
    return (struct rating){question ? 20 : error ? 70 : 60, FAILURE_TRUTH};
}

// Whether 1, 0 and -1 mean success, failure and a worse failure. Several negative results are
// codes, and then 0 is the success.
static bool fails_beside_negative(const struct picture *picture)
{
    return picture->negative && picture->distinct_negative <= 2 && picture->one &&
           picture->distinct_positive == 1 && !picture->asks && !picture->compares &&
           !picture->one_after && !picture_reported(picture, 1) &&
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

// Whether the name or the declaration says that the function makes an object, but it does nothing
// and returns zero: it is not implemented. If zero were the success, it would have to put the
// object somewhere.
static bool makes_nothing(const struct picture *picture)
{
    bool pointer = picture->summary->declared == DECLARED_POINTER;
    bool object = picture->makes || (pointer && !picture->gets);
    return object && picture->zero && !picture->other && !picture->positive && !picture->negative &&
           !picture->numbers && !picture->negated_numbers &&
           (picture->hints & (HINT_WORKS | HINT_ACTS)) == 0;
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
        return (struct rating){60, FAILURE_TRUTH};
    bool limits = after && !picture->negative_beside; // what is read from a text may fail before
    if ((picture->negative && !limits) || picture->numbers || picture->negated_numbers)
        return (struct rating){0, FAILURE_NULL};
    if (picture_status(picture, 0) == STATUS_BAD)
        return (struct rating){65, FAILURE_TRUTH};
    if (picture->truth || (picture->one && picture->distinct_positive == 1 && !picture->other))
        return judge_truth(picture, error);
    if (only_positive_gives(picture))
        return (struct rating){70, FAILURE_TRUTH};
    if (picture_divides(picture) && !asks)
        return (struct rating){60, FAILURE_NULL};
    if (transforms_nothing(picture) && !error && !after)
        return (struct rating){60, FAILURE_NULL};
    if (picture->finds && picture->other && !picture->positive && !asks) // it is not there
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
    if (picture->other && !picture->positive)
        return (struct rating){asks              ? 20
                               : picture->wide   ? 62
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

static struct rating judge_positive(const struct picture *picture,
                                    const struct return_outcome *outcome)
{
    int64_t number = outcome->result.number;
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

// What a comment says about a number. Comments about an error that was before are about that.
static unsigned documented(const struct picture *picture, int64_t number)
{
    unsigned documented = picture->asks_error ? 0 : picture->summary->documented;
    if (number == 0)
        return documented & (DOCUMENTED_ZERO_FAILS | DOCUMENTED_ZERO_SUCCEEDS);
    if (number < 0)
        return documented & (DOCUMENTED_NEGATIVE_FAILS | DOCUMENTED_NEGATIVE_SUCCEEDS);
    return documented & (DOCUMENTED_POSITIVE_FAILS | DOCUMENTED_POSITIVE_SUCCEEDS);
}

// Comments tell more than signs in the code.
static struct rating consult(const struct picture *picture, const struct return_outcome *outcome,
                             struct rating rating)
{
    int64_t number = outcome->result.number;
    unsigned told = documented(picture, number);
    unsigned all = picture->summary->documented;
    bool only_zero = (all & DOCUMENTED_FAILS) == DOCUMENTED_ZERO_FAILS;
    bool question = (all & DOCUMENTED_TRUTH) != 0 && picture->truth && picture->gets;
    bool code = number != 0 && (all & DOCUMENTED_CODES) != 0 && number >= SMALLEST_RESULT;
    bool asks = (picture->asks || picture->compares) && number == 0 && !picture->pointer;
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

static struct rating judge(const struct picture *picture, const struct return_outcome *outcome)
{
    struct rating rating = {0};
    if (value_is_numbers(&outcome->result))
        rating = (struct rating){rate_numbers(picture, outcome), FAILURE_ERROR_NUMBERS};
    else if (outcome->result.kind != VALUE_CONSTANT)
        return rating;
    else if (picture->pair) // the first word alone says nothing
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
    bool constant =
        outcome->result.kind == VALUE_CONSTANT && rating.reason != FAILURE_ERROR_NUMBERS;
    return constant && !picture->pair ? consult(picture, outcome, rating) : rating;
}

static int compare_failures(const void *a, const void *b)
{
    const struct failure *left = a, *right = b;
    if (left->confidence != right->confidence)
        return right->confidence - left->confidence;
    if (left->result.number != right->result.number)
        return left->result.number < right->result.number ? 1 : -1;
    return (left->evidence > right->evidence) - (left->evidence < right->evidence);
}

static const char *why_unknown(const struct summary *summary, unsigned hints)
{
    if (summary == NULL)
        return "its code was not found";
    if (summary->outcomes.count == 0 && (hints & HINT_STOPS) == 0)
        return summary->cut ? "too much to look at" : "no way out of it was found";
    return NULL;
}

#define FIELDS 3 // of one object

// A failure is reported in one or two places. Code that sets more fields of one object, or more
// variables, destroys or resets something. Callers do not look at that.
static bool cleans_up(const struct return_outcome *outcome)
{
    for (unsigned i = 0; i < outcome->effect_count; i++) {
        unsigned count = 0;
        for (unsigned k = 0; k < outcome->effect_count; k++)
            count += outcome->effects[k].kind == outcome->effects[i].kind &&
                     outcome->effects[k].argument == outcome->effects[i].argument;
        if (count >= FIELDS)
            return true;
    }
    return false;
}

static struct error *add(struct failures *failures, const struct picture *picture,
                         const struct return_outcome *outcome, struct rating rating)
{
    unsigned after = outcome->result.kind == VALUE_CONSTANT
                         ? picture_after(picture, outcome->result.number)
                         : outcome->after;
    struct failure *added = ARRAY_ADD(&failures->items);
    if (added == NULL)
        return error_no_memory();
    *added =
        (struct failure){.result = outcome->result,
                         .sets_error = outcome_sets_errno(outcome),
                         .error = outcome->error,
                         .effect_count = cleans_up(outcome) ? 0 : outcome->effect_count,
                         .evidence = outcome->evidence,
                         .confidence = (uint8_t)rating.confidence,
                         .reason = (uint8_t)rating.reason,
                         .forced = (after & OUTCOME_UNFORCED) == 0,
                         .alone = (after & (OUTCOME_AFTER_FAILURE | OUTCOME_AFTER_REPORT)) == 0};
    if (added->result.kind == VALUE_ERROR)
        added->result = (struct value){.kind = VALUE_ERRORS, .negative = added->result.negative};
    added->result_open = added->result.kind == VALUE_ERRORS && added->result.set == 0;
    for (unsigned i = 0; i < added->effect_count; i++)
        added->effects[i] = outcome->effects[i];
    return NULL;
}

static bool sets_output(const struct failure *failure)
{
    for (unsigned i = 0; i < failure->effect_count; i++)
        if (failure->effects[i].kind == EFFECT_ARGUMENT && failure->effects[i].argument > 0 &&
            failure->effects[i].where == 0)
            return true;
    return false;
}

// A function that fills in an out-parameter with what it has although it failed, as sqlite3_open()
// does, is taken to do so with every failure of which nothing else is known.
static void mark_outputs(const struct picture *picture, struct failures *failures)
{
    bool gives = false;
    for (size_t i = 0; i < failures->items.count; i++) {
        const struct failure *failure = &failures->items.items[i];
        gives |= failure->confidence >= FAILURE_LIKELY && failure->result.kind == VALUE_CONSTANT &&
                 (picture_after(picture, failure->result.number) & OUTCOME_GIVES) != 0;
    }
    for (size_t i = 0; i < failures->items.count; i++)
        failures->items.items[i].gives = gives && !sets_output(&failures->items.items[i]);
}

static bool says(const struct failures *failures, int64_t number)
{
    for (size_t i = 0; i < failures->items.count; i++) {
        const struct failure *failure = &failures->items.items[i];
        int64_t known = failure->result.kind != VALUE_CONSTANT ? failure->result.negative ? -1 : 1
                                                               : failure->result.number;
        if (failure->confidence >= FAILURE_LIKELY && (known < 0) == (number < 0) &&
            (known == 0) == (number == 0))
            return true;
    }
    return false;
}

// Adds failures that a comment tells of, if results are not known that they may be among.
static struct error *add_documented(const struct picture *picture, struct failures *failures)
{
    static const int64_t numbers[] = {0, -1, 1};
    const unsigned nonzero = DOCUMENTED_NEGATIVE_FAILS | DOCUMENTED_POSITIVE_FAILS;
    unsigned all = picture->summary->documented;
    bool open = picture->other || picture->summary->cut || picture->summary->through_pointer;
    bool either = (all & nonzero) == nonzero && (says(failures, 1) || says(failures, -1));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && open; i++) {
        int64_t number = numbers[i];
        if ((documented(picture, number) & DOCUMENTED_FAILS) == 0 || says(failures, number) ||
            (number != 0 && either) || (number < 0 && picture->truth) ||
            (number == 0 && !picture->pointer && (picture->asks || picture->compares)))
            continue;
        const struct return_outcome outcome = {.result = {.kind = VALUE_CONSTANT, .number = number},
                                               .after = OUTCOME_UNFORCED};
        TRY(add(failures, picture, &outcome, (struct rating){DOCUMENTED, FAILURE_DOCUMENTED}));
        if (number != 0 && (all & nonzero) == nonzero)
            break;
    }
    return NULL;
}

static struct error *fill(const struct summary *summary, unsigned hints, const char *name,
                          struct failures *failures)
{
    failures->unknown = why_unknown(summary, hints);
    failures->pointer = hints_say_pointer(hints);
    failures->narrow = hints_say_narrow(hints);
    failures->cut = summary != NULL && summary->cut;
    failures->pure = summary != NULL && (hints & HINT_WORKS) == 0;
    if (failures->unknown != NULL)
        return NULL;
    struct picture picture = picture_of(summary, hints, name);
    failures->zero_succeeds = picture.zero && !picture.other && !picture.positive;
    bool likely = false;
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        struct rating rating = judge(&picture, &summary->outcomes.items[i]);
        if (rating.confidence != 0)
            TRY(add(failures, &picture, &summary->outcomes.items[i], rating));
        likely |= rating.confidence >= FAILURE_LIKELY;
        // Where codes are returned, a number that was kept somewhere may be one.
        failures->cut |=
            summary->kept && rating.confidence >= FAILURE_LIKELY && rating.reason == FAILURE_CODE;
    }
    TRY(add_documented(&picture, failures));
    likely |= failures->items.count != 0 &&
              failures->items.items[failures->items.count - 1].reason == FAILURE_DOCUMENTED;
    mark_outputs(&picture, failures);
    if (picture.pair && failures->items.count != 0)
        failures->unknown = "it returns a structure of two words";
    bool answer = (summary->documented & (DOCUMENTED_ANSWER | DOCUMENTED_TRUTH)) != 0;
    if (!likely && summary->through_pointer && (hints & (HINT_MADE | HINT_USED)) != 0 &&
        !picture.asks && !picture.compares && !answer)
        failures->unknown = "it returns what a function returns that is called through a pointer";
    if (failures->items.count != 0)
        qsort(failures->items.items, failures->items.count, sizeof *failures->items.items,
              compare_failures);
    return NULL;
}

void failures_mark(struct summary *summary, unsigned hints, const char *name)
{
    struct picture picture = picture_of(summary, hints, name);
    bool asked = picture_zero_is_asked_for(&picture);
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        struct return_outcome *outcome = &summary->outcomes.items[i];
        outcome->fails = judge(&picture, outcome).confidence >= FAILURE_LIKELY;
        outcome->asked =
            asked && outcome->result.kind == VALUE_CONSTANT && outcome->result.number == 0;
    }
}

struct error *failures_of(const struct summary *summary, unsigned hints, const char *name,
                          struct failures *ret_failures)
{
    struct failures failures = {0};
    struct error *error = fill(summary, hints, name, &failures);
    if (error != NULL) {
        failures_deinit(&failures);
        return error;
    }
    *ret_failures = failures;
    return NULL;
}
