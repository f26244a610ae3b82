// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the outcomes of a function without duplicates. There are only a few, so a list is
// enough.
#include "profile/summary.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OUTCOMES 256
#define MOST_VARIANTS 8  // outcomes with the same result that differ in effects
#define MOST_ALIKE    16 // outcomes with the same result

void summary_deinit(struct summary *summary)
{
    ARRAY_DEINIT(&summary->outcomes);
}

void summary_shrink(struct summary *summary)
{
    size_t count = summary->outcomes.count;
    struct return_outcome *items =
        count != 0 ? realloc(summary->outcomes.items, count * sizeof *items) : NULL;
    if (items == NULL)
        return;
    summary->outcomes.items = items;
    summary->outcomes.room = count;
}

static bool same_value(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->number == b->number && a->set == b->set &&
           a->negative == b->negative;
}

static bool same_outcome(const struct return_outcome *a, const struct return_outcome *b)
{
    if (!same_value(&a->result, &b->result) || a->sets_error != b->sets_error ||
        !same_value(&a->error, &b->error) || a->effect_count != b->effect_count ||
        a->conditional != b->conditional)
        return false;
    if (a->conditional && (a->argument != b->argument || a->when.low != b->when.low ||
                           a->when.high != b->when.high || a->when.outside != b->when.outside))
        return false;
    for (unsigned i = 0; i < a->effect_count; i++) {
        const struct effect *x = &a->effects[i], *y = &b->effects[i];
        if (x->kind != y->kind || x->argument != y->argument || x->where != y->where ||
            x->value != y->value || x->source != y->source)
            return false;
    }
    return true;
}

// Whether there is an equal outcome already. If so, `after` is added to it.
static bool join(struct summary *summary, const struct return_outcome *outcome)
{
    for (size_t i = 0; i < summary->outcomes.count; i++)
        if (same_outcome(&summary->outcomes.items[i], outcome)) {
            summary->outcomes.items[i].after |= outcome->after;
            return true;
        }
    return false;
}

static size_t count_alike(const struct summary *summary, const struct return_outcome *outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < summary->outcomes.count; i++)
        count += same_value(&summary->outcomes.items[i].result, &outcome->result);
    return count;
}

// What is dropped may happen all the same.
static void drop(struct summary *summary, const struct return_outcome *outcome)
{
    for (size_t i = 0; i < summary->outcomes.count; i++)
        if (same_value(&summary->outcomes.items[i].result, &outcome->result))
            summary->outcomes.items[i].after |= outcome->after & OUTCOME_UNFORCED;
}

// Results matter more than other differences. So only a few outcomes of one result are kept, to
// leave room for other results.
struct error *summary_add(struct summary *summary, const struct return_outcome *added_outcome)
{
    struct return_outcome outcome[1] = {*added_outcome};
    if (join(summary, outcome))
        return NULL;
    size_t alike = count_alike(summary, outcome);
    if (alike >= MOST_VARIANTS) {
        outcome->effect_count = 0;
        if (join(summary, outcome))
            return NULL;
        if (alike >= MOST_ALIKE) {
            drop(summary, outcome);
            return NULL;
        }
    }
    if (summary->outcomes.count >= MOST_OUTCOMES) {
        summary->cut = true;
        return NULL;
    }
    struct return_outcome *added = ARRAY_ADD(&summary->outcomes);
    if (added == NULL)
        return error_no_memory();
    *added = *outcome;
    return NULL;
}
