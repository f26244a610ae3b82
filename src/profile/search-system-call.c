// SPDX-License-Identifier: GPL-3.0-or-later
// Steps back over a system call: finds its number, and forks the state for its errors and for
// success.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/system-calls.h"

#define SYSTEM_CALL_CHANGES (1u << ISA_RETURN | 1u << 2 | 1u << 11) // rax rcx r11

// The number of a system call, if a constant is put into rax in the same block.
static bool call_number(const struct search *search, const struct flow_block *block, uint32_t at,
                        int64_t *ret_number)
{
    struct place place = place_register(ISA_RETURN);
    for (uint32_t i = at; i-- > block->first;) {
        struct step step = place_step(search->image, block, i, place);
        if (step.kind == STEP_CONSTANT) {
            *ret_number = step.constant;
            return true;
        }
        if (step.kind == STEP_MOVED && step.operation_count == 0)
            place = step.place;
        else if (step.kind != STEP_SAME)
            return false;
    }
    return false;
}

// The number comes from further away, perhaps from the caller. The search follows the number
// instead of the result.
static struct error *follow_number(struct search *search, struct search_state *state, uint32_t at)
{
    const struct place place = place_register(ISA_RETURN);
    const struct return_outcome worked = {.result = {.kind = VALUE_SUCCESS}};
    const struct value failed = {.kind = VALUE_CALL, .negative = true};
    if (search_allows(search, state, &failed)) {
        struct search_state next;
        search_state_copy(&next, state);
        struct tracked *all[] = {&next.result, &next.error, &next.stored};
        bool followed = false;
        for (unsigned i = 0; i < 3; i++) {
            if (!tracked_in(all[i], place) || followed || all[i]->operation_count == OPERATIONS) {
                tracked_clobber(all[i], SYSTEM_CALL_CHANGES);
                continue;
            }
            all[i]->operations[all[i]->operation_count++] =
                (struct operation){.kind = OPERATION_SYSTEM_CALL, .width = 8};
            followed = true;
        }
        search_state_settle_stored(&next);
        search_state_note_result(search, &next, at);
        search_state_clobber_known(&next, SYSTEM_CALL_CHANGES);
        next.at = at;
        TRY(search_push(search, &next));
    }
    return search_apply_outcome(search, state, &worked, at);
}

static struct error *fail_system_call(struct search *search, const struct search_state *state,
                                      int64_t number, const struct error_set *errors, uint32_t at)
{
    struct return_outcome failed = {.result = {.kind = VALUE_ERRORS, .negative = true},
                                    .fails = true};
    const struct system_call_case *narrow = search->coarse ? NULL : system_call_case(number);
    struct known condition;
    struct search_state next;
    search_state_copy(&next, state);
    bool told = narrow != NULL && error_set_has(errors, narrow->error) &&
                place_of_system_argument(narrow->argument, &condition.place);
    if (told) {
        struct error_set one = {0};
        error_set_add(&one, narrow->error);
        TRY(error_sets_put(search->context->sets, &one, &failed.result.set));
        next.narrowed = true;
        condition.bounds = (struct bounds){.low = narrow->value, .high = narrow->value};
        TRY(search_apply_outcome_when(search, &next, &failed, at, &condition));
        condition.bounds.outside = true;
    }
    TRY(error_sets_put(search->context->sets, errors, &failed.result.set));
    return search_apply_outcome_when(search, &next, &failed, at, told ? &condition : NULL);
}

struct error *search_step_system_call(struct search *search, struct search_state *state,
                                      uint32_t at, bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[state->block];
    const uint32_t changes = SYSTEM_CALL_CHANGES;
    int64_t number;
    const struct error_set *errors = NULL;
    if (search_state_asks_result(state) && call_number(search, block, at, &number)) {
        errors = search->context->system_call(search->context->data, number);
    } else if (search_state_asks_result(state)) {
        *ret_forked = true;
        return follow_number(search, state, at);
    }
    *ret_forked = errors != NULL;
    if (errors == NULL) {
        search_state_clobber(state, changes);
        search_state_note_result(search, state, at);
        return NULL;
    }
    const struct return_outcome worked = {.result = {.kind = VALUE_SUCCESS}};
    if (!error_set_is_empty(errors)) // getpid() and the like never fail
        TRY(fail_system_call(search, state, number, errors, at));
    return search_apply_outcome(search, state, &worked, at);
}
