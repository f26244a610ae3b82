// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at all outcomes of a function together. What a result means depends on the others.
#include "profile/picture.h"

#include "profile/names.h"

#include <errno.h>

#define FEW_STATUSES 3 // different codes that are stored, for it to be a status

bool outcome_sets_errno(const struct return_outcome *outcome)
{
    return outcome->sets_error &&
           !(outcome->error.kind == VALUE_CONSTANT && outcome->error.number == 0);
}

bool outcome_is_limit(const struct return_outcome *outcome)
{
    const struct value *result = &outcome->result;
    return result->kind == VALUE_CONSTANT &&
           (result->number == -1 || result->number == INT64_MIN) && outcome->sets_error &&
           outcome->error.kind == VALUE_CONSTANT && outcome->error.number == ERANGE;
}

#define CAUSES (OUTCOME_AFTER_FAILURE | OUTCOME_AFTER_REPORT)

// Whether a failure or a report leads to an outcome.
static bool is_caused(const struct return_outcome *outcome)
{
    return (outcome->after & CAUSES) != 0 || (outcome->after & OUTCOME_UNFORCED) == 0;
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
    bool error = outcome_sets_errno(outcome);
    picture->zero |= number == 0;
    picture->one |= number == 1;
    picture->negative |= number < 0;
    picture->negative_beside |= number < 0 && !outcome_is_limit(outcome);
    picture->positive |= number > 0;
    picture->negative_sets_errno |= number < 0 && error;
    picture->zero_sets_errno |= number == 0 && error;
    picture->positive_sets_errno |= number > 0 && error;
    picture->positive_spares_errno |= number > 0 && !error;
    bool after = (outcome->after & OUTCOME_AFTER_FAILURE) != 0;
    picture->positive_caused |= number > 0 && is_caused(outcome);
    picture->positive_succeeds |= number > 0 && (outcome->after & OUTCOME_AFTER_SUCCESS) != 0;
    picture->zero_after |= number == 0 && after;
    picture->one_after |= number == 1 && after;
    picture->positive_after |= number > 0 && after;
    bool gives = (outcome->after & OUTCOME_GIVES) != 0;
    picture->zero_gives |= number == 0 && gives;
    picture->positive_gives |= number > 0 && gives;
    bool refuses = (outcome->after & OUTCOME_AFTER_NULL) != 0;
    picture->zero_refuses |= number == 0 && refuses;
    picture->negative_refuses |= number < 0 && refuses;
    picture->positive_refuses |= number > 0 && refuses;
    if (number > picture->largest)
        picture->largest = number;
    if (number != 0 && !known_before(summary, index))
        ++*(number > 0 ? &picture->distinct_positive : &picture->distinct_negative);
}

bool value_is_numbers(const struct value *result)
{
    return result->kind == VALUE_ERRORS || (result->kind == VALUE_ERROR && result->negative);
}

struct picture picture_of(const struct summary *summary, unsigned hints, const char *name)
{
    struct picture picture = {.summary = summary,
                              .name = name,
                              .hints = hints,
                              .pointer = hints_say_pointer(hints),
                              .wide = hints_say_wide(hints),
                              .narrow = hints_say_narrow(hints),
                              .pair =
                                  hints_say_pair(hints) || summary->declared == DECLARED_STRUCTURE,
                              .truth = summary->declared == DECLARED_TRUTH,
                              .asks = name_is_predicate(name),
                              .compares = name_is_comparison(name),
                              .asks_error = name_asks_error(name),
                              .releases = name_releases(name),
                              .measures = name_is_measure(name),
                              .gets = name_gets(name),
                              .sorts = name_tells_kind(name),
                              .iterates = name_iterates(name),
                              .checks = name_checks(name),
                              .makes = name_makes_object(name),
                              .copies = name_copies(name),
                              .takes = name_takes_out(name),
                              .transforms = name_transforms(name),
                              .finds = name_finds(name),
                              .reports = name_reports_error(name),
                              .timeout = name_is_timeout(name)};
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT)
            see_constant(&picture, summary, i);
        else if (value_is_numbers(&outcome->result))
            *(outcome->result.negative ? &picture.negated_numbers : &picture.numbers) = true;
        else
            picture.other = true;
    }
    return picture;
}

unsigned picture_after(const struct picture *picture, int64_t number)
{
    unsigned after = 0;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == number)
            after |= outcome->after;
    }
    return after;
}

bool picture_after_failure(const struct picture *picture, int64_t number, bool only)
{
    unsigned after = picture_after(picture, number);
    return (after & OUTCOME_AFTER_FAILURE) != 0 && (!only || (after & OUTCOME_AFTER_SUCCESS) == 0);
}

bool picture_reported(const struct picture *picture, int64_t number)
{
    return (picture_after(picture, number) & OUTCOME_AFTER_REPORT) != 0;
}

// What is stored in one place.
struct stored {
    bool nothing, zero;            // by some outcome of the result asked for
    bool codes;                    // an outcome stores the number that it returns
    int64_t few[FEW_STATUSES];     // other numbers, of the result asked for
    unsigned count;                // of them, up to FEW_STATUSES
    bool others_zero, others_else; // by positive results, if zero is asked for
};

static const struct effect *effect_at(const struct return_outcome *outcome,
                                      const struct effect *place)
{
    for (unsigned i = 0; i < outcome->effect_count; i++) {
        const struct effect *effect = &outcome->effects[i];
        if (effect->kind == place->kind && effect->argument == place->argument &&
            effect->where == place->where && effect->source == 0)
            return effect;
    }
    return NULL;
}

static void see_stored(struct stored *stored, const struct return_outcome *outcome,
                       const struct effect *effect, int64_t number)
{
    int64_t result = outcome->result.number;
    stored->codes |= effect != NULL && result > 0 && effect->value == result;
    if (result > 0 && effect != NULL)
        *(effect->value == 0 ? &stored->others_zero : &stored->others_else) = true;
    if (result != number)
        return;
    if (effect == NULL)
        stored->nothing = true;
    else if (effect->value == 0)
        stored->zero = true;
    for (unsigned i = 0; effect != NULL && effect->value != 0 && i < FEW_STATUSES; i++) {
        if (i == stored->count)
            stored->few[stored->count++] = effect->value;
        if (stored->few[i] == effect->value)
            return;
    }
}

// All that outcomes store in one place.
static struct stored stored_at(const struct picture *picture, const struct effect *place,
                               int64_t number)
{
    struct stored stored = {0};
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT)
            see_stored(&stored, outcome, effect_at(outcome, place), number);
    }
    return stored;
}

enum picture_status picture_status(const struct picture *picture, int64_t number)
{
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind != VALUE_CONSTANT || outcome->result.number != number)
            continue;
        for (unsigned k = 0; k < outcome->effect_count; k++) {
            struct stored stored = stored_at(picture, &outcome->effects[k], number);
            if (number > 0 && stored.codes && stored.zero && stored.count == 0)
                return STATUS_GOOD;
            if (number == 0 && !stored.zero && stored.count == FEW_STATUSES && stored.others_zero &&
                !stored.others_else)
                return STATUS_BAD;
        }
    }
    return STATUS_NONE;
}

bool picture_keeps(const struct picture *picture, int64_t number)
{
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind != VALUE_CONSTANT || outcome->result.number != number)
            continue;
        for (unsigned k = 0; k < outcome->effect_count; k++)
            if (outcome->effects[k].source == 0 && outcome->effects[k].value == number)
                return true;
    }
    return false;
}

bool picture_enumerates(const struct picture *picture)
{
    return picture->distinct_positive >= 4 && picture->largest == picture->distinct_positive;
}

bool picture_counts(const struct picture *picture)
{
    return picture->other && picture->summary->computed && !picture->positive_caused &&
           picture->zero && picture->largest == picture->distinct_positive;
}

bool picture_divides(const struct picture *picture)
{
    return picture->other && picture_after_failure(picture, 0, true) &&
           picture->positive_succeeds && !picture->positive_after && !picture->negative &&
           !picture->zero_gives;
}

bool picture_answers(const struct picture *picture)
{
    if (picture->positive_caused || picture->negative || picture->zero_gives)
        return false;
    return (picture->sorts && !picture->positive_refuses) ||
           (picture->zero_after && picture->positive_succeeds && !picture->other) ||
           picture_divides(picture);
}

bool picture_has_cause(const struct picture *picture, int64_t number)
{
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == number &&
            is_caused(outcome))
            return true;
    }
    return false;
}

bool picture_is_end(const struct picture *picture, int64_t number)
{
    if (picture->iterates && picture->distinct_negative == 1 &&
        !picture_has_cause(picture, number) && !picture->negative_sets_errno &&
        !picture->negated_numbers && !picture->negative_refuses)
        return true;
    return number == -1 && picture->other && picture->distinct_negative == 2 &&
           picture_has_cause(picture, -2) && !picture_has_cause(picture, -1) &&
           (picture_after(picture, -1) & OUTCOME_AFTER_NULL) == 0;
}

// Whether NULL says that nothing is left, of a function that takes one thing after the other out of
// an object. It needs nothing that could fail, and has no key that it could not find. So is NULL of
// a property, where a complaint about a wrong object is written down.
static bool takes_out(const struct picture *picture)
{
    return (picture->hints & HINT_CHANGES) != 0 && (picture->hints & HINT_KEYED) == 0 &&
           !picture->summary->computed && !picture->positive && !picture->zero_sets_errno &&
           (picture_after(picture, 0) & CAUSES) == 0;
}

bool picture_only_for_null(const struct picture *picture, int64_t number)
{
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == number &&
            (outcome->after & OUTCOME_AFTER_NULL) == 0)
            return false;
    }
    return true;
}

// Whether a function returns its argument, so that zero is what it was given.
static bool returns_argument(const struct picture *picture)
{
    bool found = false;
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct value *result = &picture->summary->outcomes.items[i].result;
        if (result->kind == VALUE_ARGUMENT && !result->negative)
            found = true;
        else if (result->kind != VALUE_CONSTANT || result->number != 0)
            return false;
    }
    return found && picture_only_for_null(picture, 0);
}

bool picture_zero_is_asked_for(const struct picture *picture)
{
    return picture->copies && picture->other && !picture->narrow &&
           picture_only_for_null(picture, 0);
}

// Whether a function that computes a number, and does nothing else, returns zero for a NULL: the
// caller asked for it, as for the initial value of crc32().
static bool is_initial(const struct picture *picture)
{
    return (picture->hints & HINT_WORKS) == 0 && picture->summary->computed && !picture->pointer &&
           picture_only_for_null(picture, 0);
}

// Whether an outcome changes the object that the first argument points to.
static bool changes_object(const struct return_outcome *outcome)
{
    for (unsigned i = 0; i < outcome->effect_count; i++)
        if (outcome->effects[i].kind == EFFECT_ARGUMENT && outcome->effects[i].argument == 0)
            return true;
    return false;
}

// Whether NULL of a function that gets something out of an object may say that there is no more: it
// does where nothing failed, and then changes the object. PQgetResult() returns it without memory,
// too, but no caller can tell.
static bool is_ambiguous(const struct picture *picture)
{
    for (size_t i = 0; i < picture->summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &picture->summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == 0 &&
            !outcome_sets_errno(outcome) && (outcome->after & (CAUSES | OUTCOME_AFTER_NULL)) == 0 &&
            changes_object(outcome))
            return picture->gets && (picture->hints & HINT_KEYED) == 0;
    }
    return false;
}

bool picture_zero_is_end(const struct picture *picture)
{
    bool next = (picture->iterates || (picture->takes && !picture->narrow)) &&
                !picture->zero_sets_errno &&
                (picture_after(picture, 0) & (CAUSES | OUTCOME_AFTER_ANYTHING)) == 0;
    return picture->other &&
           (next || takes_out(picture) || is_ambiguous(picture) || is_initial(picture) ||
            picture_zero_is_asked_for(picture) || returns_argument(picture));
}
