// SPDX-License-Identifier: GPL-3.0-or-later
// Calls: every way of the callee that fits what is known of its result is part of the story.
#include "profile/search-internal.h"

#include "base/cleanup.h"

static bool in_register(const struct tracked *tracked, uint8_t reg)
{
    return tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
           tracked->place.reg == reg;
}

static void clobber_tracked(struct tracked *tracked, uint32_t registers)
{
    if (tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
        (registers >> tracked->place.reg & 1) != 0)
        tracked_set_other(tracked);
}

static void clobber(struct story *story, uint32_t registers)
{
    clobber_tracked(&story->result, registers);
    clobber_tracked(&story->error, registers);
    for (unsigned i = 0; i < story->known_count;)
        if (story->known[i].place.kind == PLACE_REGISTER &&
            (registers >> story->known[i].place.reg & 1) != 0)
            story_forget(story, i);
        else
            i++;
}

static bool allowed(const struct search *search, const struct story *story,
                    const struct value *value)
{
    for (unsigned i = 0; i < story->known_count; i++)
        if (place_equal(story->known[i].place, place_register(ISA_RETURN)) &&
            !bounds_allow(&story->known[i].bounds, search->world->sets, value))
            return false;
    return true;
}

static bool asks_result(const struct story *story)
{
    bool asks = in_register(&story->result, ISA_RETURN) || in_register(&story->error, ISA_RETURN);
    for (unsigned i = 0; i < story->known_count; i++)
        asks |= place_equal(story->known[i].place, place_register(ISA_RETURN));
    return asks;
}

static struct value within(struct search *search, const struct story *story, struct value value,
                           struct error **error)
{
    // Of a set of error numbers, those that the way's conditions allow.
    if (value.kind != VALUE_ERRORS)
        return value;
    struct error_set some = {0};
    const struct error_set all = search->world->sets->items.items[value.set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++) {
        struct value one = value_constant(value.negative ? -(int64_t)i : (int64_t)i);
        if (error_set_has(&all, i) && allowed(search, story, &one))
            error_set_add(&some, i);
    }
    *error = error_sets_put(search->world->sets, &some, &value.set);
    return value;
}

// One of the callee's ways is part of this story.
struct error *search_go_through(struct search *search, const struct story *story,
                                const struct way *way, uint32_t at)
{
    if (!allowed(search, story, &way->result))
        return NULL;
    struct story next = *story;
    struct error *error = NULL;
    struct value value = within(search, story, way->result, &error);
    TRY(error);
    if (in_register(&next.result, ISA_RETURN))
        tracked_set(&next.result, value);
    if (in_register(&next.error, ISA_RETURN))
        tracked_set(&next.error, value);
    story_note_result(search, &next, at);
    if (search->errors && next.error.state == TRACKED_NOTHING && way->sets_error) {
        next.error.state = TRACKED_VALUE;
        next.error.value = way->error;
    }
    clobber(&next, PLACE_CLOBBERED);
    next.at = at;
    return search_push(search, &next);
}

struct error *search_step_call(struct search *search, struct story *story, uint32_t at,
                               bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    *ret_forked = false;
    const struct summary *callee = asks_result(story) && block->callee != FLOW_NONE
                                       ? search->world->callee(search->world->data, block->callee)
                                       : NULL;
    if (callee == NULL || callee->ways.count == 0) {
        clobber(story, PLACE_CLOBBERED);
        story_note_result(search, story, at);
        return NULL;
    }
    *ret_forked = true;
    for (size_t i = 0; i < callee->ways.count; i++)
        TRY(search_go_through(search, story, &callee->ways.items[i], at));
    return NULL;
}

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
        if (step.kind == STEP_MOVED && !step.operated)
            place = step.place;
        else if (step.kind != STEP_SAME)
            return false;
    }
    return false;
}

struct error *search_step_system_call(struct search *search, struct story *story, uint32_t at,
                                      bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    const uint32_t changes = 1u << ISA_RETURN | 1u << 2 | 1u << 11; // rax rcx r11
    int64_t number;
    const struct error_set *errors = NULL;
    if (asks_result(story) && call_number(search, block, at, &number))
        errors = search->world->system_call(search->world->data, number);
    *ret_forked = errors != NULL;
    if (errors == NULL) {
        clobber(story, changes);
        story_note_result(search, story, at);
        return NULL;
    }
    struct way failed = {.result = {.kind = VALUE_ERRORS, .negative = true}},
               worked = {.result = {.kind = VALUE_WORKED}};
    TRY(error_sets_put(search->world->sets, errors, &failed.result.set));
    TRY(search_go_through(search, story, &failed, at));
    return search_go_through(search, story, &worked, at);
}
