// SPDX-License-Identifier: GPL-3.0-or-later
// Rates the outcomes of a function. These are the heuristics of section 2.1 of the LFI article with
// more evidence: errno, the sign of the other results, what callers do with the result. Every rule
// gives a confidence; only what is certainly a success is dropped.
#include "profile/failures.h"

#include "base/cleanup.h"
#include "profile/names.h"

#include <errno.h>
#include <stdlib.h>

#define LARGEST_CODE    4095
#define SMALLEST_CODE   256        // smaller numbers may be characters
#define MANY            8          // different results
#define SMALLEST_RESULT (-1000000) // smaller numbers are unlikely to mean an error

// All outcomes of a function together.
struct picture {
    const struct summary *summary;
    unsigned hints;
    bool pointer, wide, narrow;
    bool asks, compares;     // according to its name
    bool asks_error;         // likewise: its results are about an error that was before
    bool releases;           // likewise: it gives something up
    bool measures;           // likewise: its result is a size, a number of things or a position
    bool other;              // a result that is not a constant
    bool zero, one;          // such a constant is a result
    bool negative, positive; // such constants are results
    bool negative_sets_errno, zero_sets_errno;
    bool numbers;         // error numbers as a result
    bool negated_numbers; // such with a minus
    unsigned distinct_positive, distinct_negative;
    int64_t largest;
    // Returned after a callee failed. What is returned after a failure is likely to be one.
    bool zero_after, one_after, positive_after;
    bool zero_refuses;               // zero is returned because an argument is NULL
    bool zero_gives, positive_gives; // an out-parameter is filled in
};

// Whether positive results are 1, 2, 3, … without a gap: then they name things, not errors.
static bool enumerates(const struct picture *picture)
{
    return picture->distinct_positive >= 4 && picture->largest == picture->distinct_positive;
}

static const char *const texts[FAILURE_REASONS] = {
    [FAILURE_SETS_ERRNO] = "sets errno",
    [FAILURE_ERROR_NUMBERS] = "error numbers",
    [FAILURE_NEGATIVE] = "negative beside other results",
    [FAILURE_NULL] = "NULL beside pointers",
    [FAILURE_CODE] = "code beside zero",
    [FAILURE_ALONE] = "only constant result",
    [FAILURE_TRUTH] = "yes or no",
};

const char *failure_reason_text(enum failure_reason reason)
{
    return texts[reason];
}

void failures_deinit(struct failures *failures)
{
    ARRAY_DEINIT(&failures->items);
}

// Storing 0 does not count: programs clear errno before they try something.
static bool sets_errno(const struct return_outcome *outcome)
{
    return outcome->sets_error &&
           !(outcome->error.kind == VALUE_CONSTANT && outcome->error.number == 0);
}

static bool known_before(const struct summary *summary, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (summary->outcomes.items[i].result.kind == VALUE_CONSTANT &&
            summary->outcomes.items[i].result.number ==
                summary->outcomes.items[index].result.number)
            return true;
    return false;
}

static void see_constant(struct picture *picture, const struct summary *summary, size_t index)
{
    const struct return_outcome *outcome = &summary->outcomes.items[index];
    int64_t number = outcome->result.number;
    bool error = sets_errno(outcome);
    picture->zero |= number == 0;
    picture->one |= number == 1;
    picture->negative |= number < 0;
    picture->positive |= number > 0;
    picture->negative_sets_errno |= number < 0 && error;
    picture->zero_sets_errno |= number == 0 && error;
    bool after = (outcome->after & OUTCOME_AFTER_FAILURE) != 0;
    picture->zero_after |= number == 0 && after;
    picture->one_after |= number == 1 && after;
    picture->positive_after |= number > 0 && after;
    bool gives = (outcome->after & OUTCOME_GIVES) != 0;
    picture->zero_gives |= number == 0 && gives;
    picture->positive_gives |= number > 0 && gives;
    picture->zero_refuses |= number == 0 && (outcome->after & OUTCOME_AFTER_NULL) != 0;
    if (number > picture->largest)
        picture->largest = number;
    if (number != 0 && !known_before(summary, index))
        ++*(number > 0 ? &picture->distinct_positive : &picture->distinct_negative);
}

// -errno is an error number, whatever errno was before. errno may be 0.
static bool is_numbers(const struct value *result)
{
    return result->kind == VALUE_ERRORS || (result->kind == VALUE_ERROR && result->negative);
}

static struct picture picture_of(const struct summary *summary, unsigned hints, const char *name)
{
    struct picture picture = {.summary = summary,
                              .hints = hints,
                              .pointer = hints_say_pointer(hints),
                              .wide = hints_say_wide(hints),
                              .narrow = hints_say_narrow(hints),
                              .asks = name_is_predicate(name),
                              .compares = name_is_comparison(name),
                              .asks_error = name_asks_error(name),
                              .releases = name_releases(name),
                              .measures = name_is_measure(name)};
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT)
            see_constant(&picture, summary, i);
        else if (is_numbers(&outcome->result))
            *(outcome->result.negative ? &picture.negated_numbers : &picture.numbers) = true;
        else
            picture.other = true;
    }
    return picture;
}

// OUTCOME_AFTER_* of all outcomes with a result.
static unsigned after_what(const struct picture *picture, int64_t number)
{
    unsigned after = 0;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == number)
            after |= outcome->after;
    }
    return after;
}

// Whether a result is returned after a failure. `only`: and never after a success.
static bool after_failure(const struct picture *picture, int64_t number, bool only)
{
    unsigned after = after_what(picture, number);
    return (after & OUTCOME_AFTER_FAILURE) != 0 && (!only || (after & OUTCOME_AFTER_SUCCESS) == 0);
}

// Whether an error was reported before this result was returned.
static bool reported(const struct picture *picture, int64_t number)
{
    return (after_what(picture, number) & OUTCOME_AFTER_REPORT) != 0;
}

struct rating {
    unsigned confidence; // 0: a success
    enum failure_reason reason;
};

static struct rating judge_negative(const struct picture *picture,
                                    const struct return_outcome *outcome)
{
    bool small = outcome->result.number >= SMALLEST_RESULT;
    // If -1 sets errno and there are many other results, then the other negative ones are answers.
    if (picture->distinct_positive >= MANY && picture->negative_sets_errno &&
        outcome->result.number != -1)
        return (struct rating){30, FAILURE_NEGATIVE};
    if (sets_errno(outcome))
        return (struct rating){picture->pointer && outcome->result.number != -1 ? 70 : 95,
                               FAILURE_SETS_ERRNO};
    if (picture->pointer && picture->other &&
        !picture->negated_numbers) // pointers are not negative
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

// For a function that returns 0 or 1: whether 1 means failure.
static bool one_fails(const struct picture *picture)
{
    unsigned after = after_what(picture, 1);
    bool succeeds = (after & OUTCOME_AFTER_SUCCESS) != 0;
    bool question = picture->asks || picture->compares;
    if (picture->positive_gives && !picture->zero_gives)
        return false;
    if (reported(picture, 1) != reported(picture, 0))
        return reported(picture, 1) && !(succeeds && (after & OUTCOME_AFTER_SILENCE) != 0) &&
               !question;
    if (question || picture->zero_after)
        return false;
    if (picture->zero_gives && !picture->positive_gives)
        return true;
    after &= ~(unsigned)(OUTCOME_GIVES | OUTCOME_AFTER_SILENCE);
    bool fails = (after & OUTCOME_AFTER_FAILURE) != 0 && !succeeds;
    return (picture->hints & HINT_ACTS) != 0 &&
           (fails || (after == OUTCOME_AFTER_NULL && !picture->zero_refuses));
}

// Rates 0 of a function that returns 0 or 1. It is no failure of functions that only answer a
// question.
static struct rating judge_truth(const struct picture *picture, bool error)
{
    if (one_fails(picture))
        return (struct rating){0, FAILURE_TRUTH};
    bool gives = picture->positive_gives && !picture->zero_gives;
    if (((picture->zero_after && !picture->one_after) || gives) && !picture->asks &&
        !picture->compares)
        return (struct rating){75, FAILURE_TRUTH};
    bool question = picture->asks || picture->compares || (picture->hints & HINT_ACTS) == 0;
    return (struct rating){question ? 20 : error ? 70 : 60, FAILURE_TRUTH};
}

// Whether 1, 0 and -1 mean success, failure and a worse failure. Several negative results are
// codes, and then 0 is the success.
static bool fails_beside_negative(const struct picture *picture)
{
    return picture->negative && picture->distinct_negative <= 2 && picture->one &&
           picture->distinct_positive == 1 && !picture->asks && !picture->compares &&
           !picture->one_after && !reported(picture, 1) &&
           (after_failure(picture, 0, true) || reported(picture, 0));
}

// Whether there is one positive result, and an out-parameter is filled in with it alone: then it is
// the success.
static bool only_positive_gives(const struct picture *picture)
{
    return picture->positive_gives && !picture->zero_gives && picture->zero &&
           (picture->one || !picture->other) && !picture->negative &&
           picture->distinct_positive == 1 && !picture->asks && !picture->compares;
}

static struct rating judge_zero(const struct picture *picture, const struct return_outcome *outcome)
{
    // Beside a number that was kept, zero stands for none, also where none was found for an error.
    bool after = (outcome->after & OUTCOME_AFTER_FAILURE) != 0 &&
                 after_failure(picture, 0, picture->narrow && picture->summary->kept);
    bool asks = picture->asks && !picture->wide; // with a pointer as the answer, it is a lookup
    bool error = sets_errno(outcome);
    if (picture->asks_error) // there was none
        return (struct rating){20, FAILURE_NULL};
    if (picture->releases && picture->other && !picture->narrow) // nothing is left
        return (struct rating){20, FAILURE_NULL};
    if (picture->pointer && picture->other)
        return (struct rating){error ? 95 : 85, error ? FAILURE_SETS_ERRNO : FAILURE_NULL};
    if (fails_beside_negative(picture))
        return (struct rating){60, FAILURE_TRUTH};
    if (picture->negative || picture->numbers || picture->negated_numbers)
        return (struct rating){0, FAILURE_NULL};
    if (picture->one && picture->distinct_positive == 1 && !picture->other)
        return judge_truth(picture, error);
    if (only_positive_gives(picture))
        return (struct rating){70, FAILURE_TRUTH};
    if (picture->positive && !picture->wide)
        return (struct rating){error && !picture->narrow ? 35 : 0, FAILURE_SETS_ERRNO};
    if (error && picture->other)
        return (struct rating){picture->wide ? 80 : picture->narrow ? 25 : 55, FAILURE_SETS_ERRNO};
    bool counts = (picture->hints & HINT_MADE_COUNT) != 0 || picture->measures;
    if (picture->other && !picture->positive && !after && counts && !reported(picture, 0))
        return (struct rating){30, FAILURE_NULL}; // what is counted may be none
    if (picture->other && !picture->positive)
        return (struct rating){asks                   ? 20
                               : picture->wide        ? 62
                               : after                ? 60
                               : picture->narrow      ? 20
                               : reported(picture, 0) ? 60
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
    if (number > INT32_MAX || code == 0 || (code > LARGEST_CODE && !high))
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
    if (picture->pointer || only_positive_gives(picture))
        return (struct rating){0, FAILURE_CODE};
    if (picture->numbers && !picture->negative && number < ERROR_NUMBERS)
        return (struct rating){70, FAILURE_ERROR_NUMBERS};
    if (picture->negated_numbers)
        return (struct rating){0, FAILURE_CODE};
    if (picture->negative && !picture->other && !picture->zero_after && !picture->compares &&
        !picture->asks &&
        after_failure(picture, number, number == 1 || picture->distinct_positive > 2))
        return (struct rating){60, FAILURE_CODE};
    bool wide = (picture->hints & (HINT_WIDE | HINT_MADE_WIDE)) != 0;
    if (picture->negative && picture->zero && !wide && number >= SMALLEST_CODE &&
        number <= LARGEST_CODE)
        return (struct rating){55, FAILURE_CODE};
    if (picture->negative)
        return (struct rating){sets_errno(outcome) && !picture->negative_sets_errno ? 40 : 0,
                               FAILURE_SETS_ERRNO};
    if (number > LARGEST_CODE && !picture->wide && has_source(picture, number))
        return (struct rating){60, FAILURE_CODE};
    if (number > LARGEST_CODE || (picture->wide && !sets_errno(outcome)) || picture->asks)
        return (struct rating){20, FAILURE_CODE};
    if (number == 1 && picture->distinct_positive == 1)
        return (struct rating){!picture->zero                          ? 15
                               : one_fails(picture) && !picture->other ? 70
                                                                       : 0,
                               picture->zero ? FAILURE_TRUTH : FAILURE_ALONE};
    if (!picture->zero && !picture->other) // all results are like this, so some are successes
        return (struct rating){30, FAILURE_CODE};
    // Without zero there is no success beside a code. A number that stands in for one that could
    // not be found out is a success, too.
    if (!picture->zero && picture->distinct_positive == 1)
        return (struct rating){45, FAILURE_CODE};
    if (sets_errno(outcome) && !picture->zero_sets_errno)
        return (struct rating){65, FAILURE_SETS_ERRNO};
    if (enumerates(picture))
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

static struct rating judge(const struct picture *picture, const struct return_outcome *outcome)
{
    struct rating rating = {0};
    if (is_numbers(&outcome->result))
        rating = (struct rating){rate_numbers(picture, outcome), FAILURE_ERROR_NUMBERS};
    else if (outcome->result.kind != VALUE_CONSTANT)
        return rating;
    else if (outcome->result.number < 0)
        rating = judge_negative(picture, outcome);
    else if (outcome->result.number == 0)
        rating = judge_zero(picture, outcome);
    else
        rating = judge_positive(picture, outcome);
    rating.confidence = doubt(picture->hints, sets_errno(outcome), rating.confidence);
    return rating;
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
                         ? after_what(picture, outcome->result.number)
                         : outcome->after;
    struct failure *added = ARRAY_ADD(&failures->items);
    if (added == NULL)
        return error_no_memory();
    *added =
        (struct failure){.result = outcome->result,
                         .sets_error = sets_errno(outcome),
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
    if (!likely && summary->through_pointer && (hints & (HINT_MADE | HINT_USED)) != 0 &&
        !picture.asks && !picture.compares)
        failures->unknown = "it returns what a function returns that is called through a pointer";
    if (failures->items.count != 0)
        qsort(failures->items.items, failures->items.count, sizeof *failures->items.items,
              compare_failures);
    return NULL;
}

void failures_mark(struct summary *summary, unsigned hints, const char *name)
{
    struct picture picture = picture_of(summary, hints, name);
    for (size_t i = 0; i < summary->outcomes.count; i++)
        summary->outcomes.items[i].fails =
            judge(&picture, &summary->outcomes.items[i]).confidence >= FAILURE_LIKELY;
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
