// SPDX-License-Identifier: GPL-3.0-or-later
// Authors of a library follow habits: which of 0 and 1 is the failure, which numbers are codes.
// What one function does not tell, the others do.
#include "profile/convention.h"

#include <string.h>

#define FEWEST_CODES    8 // functions that return codes, for it to be a convention
#define FEWEST_STATUSES 4 // functions where zero is the success, if it is the failure of none
#define FAR_MORE        5 // times as many functions return a status
#define FEWEST_PROOFS   3 // functions with a sign that a number is a code
#define IN_TABLE        60
#define TURNED_ROUND    55

static unsigned likely_with(const struct profile *profile, const struct profile_function *function,
                            enum failure_reason reason, unsigned confidence)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        count += failure->reason == reason && failure->confidence >= confidence;
    }
    return count;
}

#define TABLES 8 // of error codes that a library may have

struct table {
    int64_t base; // all but the lowest byte of its codes
    size_t functions;
};

// The table of error codes, as com_err makes them, that a failure belongs to; or NULL.
static struct table *table_of(struct table *tables, const struct failure *failure)
{
    const struct value *result = &failure->result;
    if (result->kind != VALUE_CONSTANT || failure->reason != FAILURE_CODE ||
        result->number <= UINT16_MAX || result->number > INT32_MAX)
        return NULL;
    for (size_t i = 0; i < TABLES; i++)
        if (tables[i].base == 0 || tables[i].base == result->number >> 8) {
            tables[i].base = result->number >> 8;
            return &tables[i];
        }
    return NULL;
}

// A large number is an error code if many functions return numbers of the same table.
static void apply_tables(struct profile *profile)
{
    struct table tables[TABLES] = {0};
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        const struct table *last = NULL;
        for (uint32_t k = 0; k < function->count; k++) {
            struct table *table = table_of(tables, &profile->failures.items[function->first + k]);
            if (table != NULL && table != last)
                table->functions++;
            last = table;
        }
    }
    for (size_t i = 0; i < profile->failures.count; i++) {
        struct failure *failure = &profile->failures.items[i];
        const struct table *table = table_of(tables, failure);
        if (table != NULL && table->functions >= FEWEST_CODES &&
            failure->confidence < FAILURE_LIKELY)
            failure->confidence = IN_TABLE;
    }
}

// How many functions of a library tell, with a sign, what 0 and 1 are.
struct polarity {
    size_t codes;       // 0 or a code is returned, one of several or a negative one
    size_t statuses;    // 0 or a failure is returned
    size_t zeros, ones; // of a yes or no, this one is the failure
    size_t zero_ints;   // likewise zero, where the result is not declared a yes or no
};

static bool is_undecided(const struct failure *failure)
{
    return failure->reason == FAILURE_TRUTH && failure->confidence < FAILURE_TRUTH_SIGNS;
}

static const struct failure *truth_of(const struct profile *profile,
                                      const struct profile_function *function, int64_t number)
{
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        if (failure->reason == FAILURE_TRUTH && failure->result.kind == VALUE_CONSTANT &&
            failure->result.number == number)
            return failure;
    }
    return NULL;
}

static struct polarity polarity_of(const struct profile *profile)
{
    struct polarity polarity = {0};
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        polarity.codes += likely_with(profile, function, FAILURE_CODE, FAILURE_UNPROVEN) > 1 ||
                          likely_with(profile, function, FAILURE_NEGATIVE, FAILURE_LIKELY) > 1;
        const struct failure *zero = truth_of(profile, function, 0);
        const struct failure *one = truth_of(profile, function, 1);
        bool fails = zero != NULL && !is_undecided(zero);
        polarity.statuses += function->status;
        polarity.zeros += fails;
        polarity.zero_ints += fails && !function->truth;
        polarity.ones += one != NULL && !is_undecided(one);
    }
    return polarity;
}

// Zero of an int is no failure in a library where 1 is one far more often: what looked like a sign
// is a mistake, or it is a yes or no after all. Without a sign, 1 is the failure.
static void turn_round(struct profile *profile, const struct profile_function *function)
{
    const struct failure *zero = truth_of(profile, function, 0);
    bool acts = zero != NULL && zero->confidence >= FAILURE_LIKELY;
    bool open = acts && is_undecided(zero);
    for (uint32_t i = 0; i < function->count && acts; i++) {
        struct failure *failure = &profile->failures.items[function->first + i];
        if (failure->reason == FAILURE_TRUTH && failure->result.number == 0)
            failure->confidence = FAILURE_UNDECIDED;
        else if (failure->reason == FAILURE_TRUTH && failure->result.number == 1 && open)
            failure->confidence = TURNED_ROUND;
    }
}

// Whether a failure of a function is another result than zero.
static bool fails_otherwise(const struct profile *profile, const struct profile_function *function)
{
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        bool zero = failure->result.kind == VALUE_CONSTANT && failure->result.number == 0;
        if (!zero && failure->confidence >= FAILURE_LIKELY)
            return true;
    }
    return false;
}

// `signs`: also where there is a sign of it, but for errno.
static void leave_undecided(struct profile *profile, const struct profile_function *function,
                            bool signs)
{
    for (uint32_t i = 0; i < function->count; i++) {
        struct failure *failure = &profile->failures.items[function->first + i];
        if (failure->result.number == 0 && failure->reason == FAILURE_TRUTH &&
            ((signs && !failure->sets_error) || is_undecided(failure)) &&
            failure->confidence > FAILURE_UNDECIDED)
            failure->confidence = FAILURE_UNDECIDED;
    }
}

// Then a yes or no of which nothing else is known is an answer.
static void take_for_answer(const struct profile *profile, struct profile_function *function)
{
    const char *unknown = profile_text(profile, function->unknown);
    if (unknown != NULL && strcmp(unknown, FAILURES_UNDECIDED) == 0)
        function->unknown = 0;
}

// If many functions of a library return 0 or a code, one of several or a negative one, then 0 of a
// function that returns 0 or 1 is no failure without a sign of it: 1 may be the first of the codes,
// or an answer.
static void apply_convention(struct profile *profile)
{
    const struct polarity polarity = polarity_of(profile);
    size_t truths = polarity.zeros + polarity.ones;
    bool codes = polarity.codes >= FEWEST_CODES && polarity.codes >= 4 * truths;
    bool more = polarity.ones >= FEWEST_PROOFS && polarity.ones > polarity.zeros;
    bool ones = polarity.ones >= FEWEST_CODES && polarity.ones >= 3 * polarity.zeros;
    for (size_t i = 0; i < profile->functions.count && ones; i++)
        turn_round(profile, &profile->functions.items[i]);
    // A yes or no may be the result of other functions. If zero is a failure of hardly any int,
    // those answer questions, too: gps_waiting().
    bool statuses = polarity.statuses >= FEWEST_STATUSES && polarity.zero_ints == 0;
    bool questions =
        polarity.statuses >= FEWEST_CODES && polarity.statuses >= FAR_MORE * polarity.zero_ints;
    statuses |= questions;
    for (size_t i = 0; i < profile->functions.count; i++) {
        struct profile_function *function = &profile->functions.items[i];
        if ((codes || more || statuses) && !function->truth)
            leave_undecided(profile, function, questions && !fails_otherwise(profile, function));
        if (codes || more)
            take_for_answer(profile, function);
    }
}

#define PROVEN 55

#define MOST_CODES 64 // without a sign, different ones; others stay without

struct code {
    int64_t number;
    size_t functions;                    // that tell of it
    const struct profile_function *last; // one of them
};

// Finds the codes in question.
static size_t find_unproven(const struct profile *profile, struct code *codes)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->failures.count; i++) {
        const struct failure *failure = &profile->failures.items[i];
        size_t k = 0;
        while (k < count && codes[k].number != failure->result.number)
            k++;
        if (failure->unproven && k == count && count < MOST_CODES)
            codes[count++] = (struct code){.number = failure->result.number};
    }
    return count;
}

// Whether a failure tells that its number is a code. A large negative number tells so by being
// there in many functions.
static bool proves(const struct failure *failure)
{
    bool large = failure->reason == FAILURE_NEGATIVE && failure->unproven;
    bool code = failure->reason == FAILURE_CODE && failure->confidence >= FAILURE_LIKELY;
    return failure->result.kind == VALUE_CONSTANT && (large || code);
}

static void count_proofs(const struct profile *profile, const struct profile_function *function,
                         struct code *codes, size_t count)
{
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        for (size_t k = 0; k < count && proves(failure); k++)
            if (codes[k].number == failure->result.number && codes[k].last != function) {
                codes[k].last = function;
                codes[k].functions++;
            }
    }
}

// A code without a sign is one if other functions have it with a sign.
static void apply_proofs(struct profile *profile)
{
    struct code codes[MOST_CODES];
    size_t count = find_unproven(profile, codes);
    for (size_t i = 0; i < profile->functions.count && count != 0; i++)
        count_proofs(profile, &profile->functions.items[i], codes, count);
    for (size_t i = 0; i < profile->failures.count; i++) {
        struct failure *failure = &profile->failures.items[i];
        size_t fewest = failure->reason == FAILURE_NEGATIVE ? FEWEST_CODES : FEWEST_PROOFS;
        for (size_t k = 0; k < count && failure->unproven; k++)
            if (codes[k].number == failure->result.number && codes[k].functions >= fewest)
                failure->confidence = PROVEN;
    }
}

void convention_apply(struct profile *profile)
{
    apply_tables(profile);
    apply_proofs(profile);
    apply_convention(profile);
}
