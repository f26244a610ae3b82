// SPDX-License-Identifier: GPL-3.0-or-later
// See summary.h. Functions have a handful of ways: a list is enough.
#include "profile/summary.h"

#include <string.h>

#define MOST_WAYS 256

void summary_deinit(struct summary *summary)
{
    ARRAY_DEINIT(&summary->ways);
}

static bool same_value(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->number == b->number && a->set == b->set &&
           a->negative == b->negative;
}

static bool same_way(const struct way *a, const struct way *b)
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

struct error *summary_add(struct summary *summary, const struct way *way)
{
    for (size_t i = 0; i < summary->ways.count; i++)
        if (same_way(&summary->ways.items[i], way))
            return NULL;
    if (summary->ways.count >= MOST_WAYS) {
        summary->cut = true;
        return NULL;
    }
    struct way *added = ARRAY_ADD(&summary->ways);
    if (added == NULL)
        return error_no_memory();
    *added = *way;
    return NULL;
}
