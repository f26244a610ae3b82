// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the failures of a function: the outcomes that are rated as such, and what comments and
// the other outcomes add.
#include "profile/failures.h"

#include "base/cleanup.h"
#include "profile/header/documented.h"
#include "profile/rating.h"

#include <stdlib.h>

#define DOCUMENTED 75 // confidence

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
                         .unproven = rating.confidence == FAILURE_UNPROVEN &&
                                     (rating.reason == FAILURE_NEGATIVE ||
                                      rating_is_unproven(picture, outcome, rating)),
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
        if ((rating_documented(picture, number) & DOCUMENTED_FAILS) == 0 ||
            says(failures, number) || (number != 0 && either) || (number < 0 && picture->truth) ||
            (number == 0 && !picture->pointer && (picture->asks || picture->compares)))
            continue;
        const struct return_outcome outcome = {.result = {.kind = VALUE_CONSTANT, .number = number},
                                               .after = OUTCOME_UNFORCED};
        const struct rating rating = {.confidence = DOCUMENTED, .reason = FAILURE_DOCUMENTED};
        TRY(add(failures, picture, &outcome, rating));
        if (number != 0 && (all & nonzero) == nonzero)
            break;
    }
    return NULL;
}

// If zero and all else that can be returned look like failures, something has to be the success: it
// is zero, unless that alone is documented as the failure.
static void leave_success(const struct picture *picture, struct failures *failures)
{
    unsigned told = picture->summary->documented & DOCUMENTED_FAILS;
    bool zero_fails = told == DOCUMENTED_ZERO_FAILS;
    bool zero = false, others = false;
    if (picture->other || picture->negative || picture->numbers || picture->negated_numbers)
        return;
    for (size_t i = 0; i < failures->items.count; i++) {
        const struct failure *failure = &failures->items.items[i];
        bool likely = failure->confidence >= FAILURE_LIKELY;
        *(failure->result.number == 0 ? &zero : &others) |= likely;
        if (!likely && failure->result.number != 0)
            return;
    }
    for (size_t i = 0; i < failures->items.count && zero && others; i++) {
        struct failure *failure = &failures->items.items[i];
        if ((failure->result.number == 0) != zero_fails && failure->confidence > FAILURE_UNPROVEN)
            failure->confidence = FAILURE_UNPROVEN;
    }
}

// Whether 0 or 1 may be a failure, and nothing tells which.
static bool is_undecided(const struct failures *failures)
{
    for (size_t i = 0; i < failures->items.count; i++)
        if (failures->items.items[i].reason == FAILURE_TRUTH &&
            failures->items.items[i].confidence == FAILURE_UNDECIDED)
            return true;
    return false;
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
        struct rating rating = rating_of(&picture, &summary->outcomes.items[i]);
        // 1 beside 0 stays, with no confidence: other functions of the library may tell of it.
        if (rating.confidence != 0 ||
            (rating.reason == FAILURE_TRUTH && summary->outcomes.items[i].result.number == 1))
            TRY(add(failures, &picture, &summary->outcomes.items[i], rating));
        likely |= rating.confidence >= FAILURE_LIKELY;
        // Where codes are returned, a number that was kept somewhere may be one.
        bool code =
            rating.reason == FAILURE_CODE ||
            (rating.reason == FAILURE_NEGATIVE && summary->outcomes.items[i].result.number < -1);
        failures->cut |= summary->kept && rating.confidence >= FAILURE_LIKELY && code;
    }
    TRY(add_documented(&picture, failures));
    likely |= failures->items.count != 0 &&
              failures->items.items[failures->items.count - 1].reason == FAILURE_DOCUMENTED;
    leave_success(&picture, failures);
    mark_outputs(&picture, failures);
    // What is not declared an int is likely to be a yes or no, which need not answer a question.
    if (!likely && summary->declared != DECLARED_NUMBER && is_undecided(failures))
        failures->unknown = FAILURES_UNDECIDED;
    if (picture.pair && failures->items.count != 0)
        failures->unknown = "it returns a structure";
    bool answer = (summary->documented & (DOCUMENTED_ANSWER | DOCUMENTED_TRUTH)) != 0;
    // A property that is an object, of which a method tells, is there.
    bool property =
        picture.gets && summary->declared == DECLARED_POINTER && (hints & HINT_KEYED) == 0;
    if (!likely && summary->through_pointer && (hints & (HINT_MADE | HINT_USED)) != 0 &&
        !picture.asks && !picture.compares && !answer && !property)
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
        outcome->fails = rating_of(&picture, outcome).confidence >= FAILURE_LIKELY;
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
