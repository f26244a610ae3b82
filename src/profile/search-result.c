// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a callee's outcomes there are in front of a call.
#include "profile/search-internal.h"

#include "base/cleanup.h"

// Whether an outcome is NULL because an argument is.
static bool is_null_argument(const struct return_outcome *outcome)
{
    return outcome->conditional && bounds_say_null(&outcome->when) &&
           outcome->result.kind == VALUE_CONSTANT && outcome->result.number == 0;
}

// Whether it is this argument itself.
static bool is_argument(const struct return_outcome *outcome, unsigned argument)
{
    return outcome->result.kind == VALUE_ARGUMENT && !outcome->result.negative &&
           outcome->result.number == argument;
}

struct error *search_apply_result(struct search *search, const struct search_state *state,
                                  const struct summary *callee, size_t index, uint32_t at)
{
    struct return_outcome outcome = callee->outcomes.items[index];
    for (size_t i = 0; i < callee->outcomes.count; i++) {
        const struct return_outcome *other = &callee->outcomes.items[i];
        // The argument is followed, and may turn out to be NULL.
        if (is_null_argument(&outcome) && is_argument(other, outcome.argument))
            return NULL;
        if (is_null_argument(other) && is_argument(&outcome, other->argument) &&
            outcome.conditional && bounds_exclude_null(&outcome.when))
            outcome.conditional = false;
    }
    return search_apply_outcome(search, state, &outcome, at);
}

struct error *search_apply_targets(struct search *search, const struct search_state *state,
                                   uint32_t at, bool *ret_known)
{
    const struct flow_target *targets;
    size_t count = flow_targets(search->image, state->block, &targets);
    size_t before = search->work.count;
    for (size_t i = 0; i < count; i++) {
        const struct summary *callee =
            search->context->callee(search->context->data, targets[i].callee);
        search->computed = callee != NULL && callee->computed;
        for (size_t k = 0; callee != NULL && k < callee->outcomes.count; k++)
            TRY(search_apply_result(search, state, callee, k, at));
    }
    // If none is possible on this path, then others are called.
    *ret_known = search->work.count != before;
    if (*ret_known)
        search_note_pointer(search, state, &search->image->blocks.items[state->block], NULL);
    return NULL;
}
