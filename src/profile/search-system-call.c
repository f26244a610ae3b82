// SPDX-License-Identifier: GPL-3.0-or-later
// System calls: which one it is, and what it fails with.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/system-calls.h"

#define SYSTEM_CALL_CHANGES (1u << ISA_RETURN | 1u << 2 | 1u << 11) // rax rcx r11

// The number of a system call is a constant put into rax shortly before.
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

// The number comes from further away, perhaps from the caller: it is followed in place of the
// result.
static struct error *ask_number(struct search *search, struct story *story, uint32_t at)
{
    const struct place place = place_register(ISA_RETURN);
    const struct way worked = {.result = {.kind = VALUE_WORKED}};
    const struct value failed = {.kind = VALUE_CALL, .negative = true};
    if (search_allows(search, story, &failed)) {
        struct story next;
        story_copy(&next, story);
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
        story_settle_stored(&next);
        story_note_result(search, &next, at);
        story_clobber_known(&next, SYSTEM_CALL_CHANGES);
        next.at = at;
        TRY(search_push(search, &next));
    }
    return search_go_through(search, story, &worked, at);
}

static struct error *fail_system_call(struct search *search, const struct story *story,
                                      int64_t number, const struct error_set *errors, uint32_t at)
{
    struct way failed = {.result = {.kind = VALUE_ERRORS, .negative = true}, .fails = true};
    const struct system_call_case *narrow = search->coarse ? NULL : system_call_case(number);
    struct known condition;
    struct story next;
    story_copy(&next, story);
    bool told = narrow != NULL && error_set_has(errors, narrow->error) &&
                place_of_system_argument(narrow->argument, &condition.place);
    if (told) {
        struct error_set one = {0};
        error_set_add(&one, narrow->error);
        TRY(error_sets_put(search->world->sets, &one, &failed.result.set));
        next.narrowed = true;
        condition.bounds = (struct bounds){.low = narrow->value, .high = narrow->value};
        TRY(search_go_through_when(search, &next, &failed, at, &condition));
        condition.bounds.outside = true;
    }
    TRY(error_sets_put(search->world->sets, errors, &failed.result.set));
    return search_go_through_when(search, &next, &failed, at, told ? &condition : NULL);
}

struct error *search_step_system_call(struct search *search, struct story *story, uint32_t at,
                                      bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    const uint32_t changes = SYSTEM_CALL_CHANGES;
    int64_t number;
    const struct error_set *errors = NULL;
    if (story_asks_result(story) && call_number(search, block, at, &number)) {
        errors = search->world->system_call(search->world->data, number);
    } else if (story_asks_result(story)) {
        *ret_forked = true;
        return ask_number(search, story, at);
    }
    *ret_forked = errors != NULL;
    if (errors == NULL) {
        story_clobber(story, changes);
        story_note_result(search, story, at);
        return NULL;
    }
    const struct way worked = {.result = {.kind = VALUE_WORKED}};
    if (!error_set_is_empty(errors)) // getpid() and the like never fail
        TRY(fail_system_call(search, story, number, errors, at));
    return search_go_through(search, story, &worked, at);
}
