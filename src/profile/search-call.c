// SPDX-License-Identifier: GPL-3.0-or-later
// Calls: every way of the callee that fits what is known of its result is part of the story.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/origin.h"

#define LARGEST_VARIABLE 128 // bytes, of those whose address is taken

void tracked_clobber(struct tracked *tracked, uint32_t registers)
{
    if (tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
        (registers >> tracked->place.reg & 1) != 0)
        tracked_set_other(tracked);
}

void story_clobber_known(struct story *story, uint32_t registers)
{
    for (unsigned i = 0; i < story->known_count;)
        if (story->known[i].place.kind == PLACE_REGISTER &&
            (registers >> story->known[i].place.reg & 1) != 0)
            story_forget(story, i);
        else
            i++;
}

void story_clobber(struct story *story, uint32_t registers)
{
    tracked_clobber(&story->result, registers);
    tracked_clobber(&story->error, registers);
    tracked_clobber(&story->stored, registers);
    story_settle_stored(story);
    story_clobber_known(story, registers);
}

bool search_allows(const struct search *search, const struct story *story,
                   const struct value *value)
{
    for (unsigned i = 0; i < story->known_count; i++)
        if (place_equal(story->known[i].place, place_register(ISA_RETURN)) &&
            !bounds_allow(&story->known[i].bounds, search->world->sets, value))
            return false;
    return true;
}

static const struct bounds *known_result(const struct story *story)
{
    for (unsigned i = 0; i < story->known_count; i++)
        if (place_equal(story->known[i].place, place_register(ISA_RETURN)))
            return &story->known[i].bounds;
    return NULL;
}

// Whether the story goes on as it does because of what the callee returned. That what is not known
// is a certain number is no sign of success.
static uint8_t came_after(const struct story *story, const struct way *way)
{
    const struct bounds *bounds = known_result(story);
    if (story_came_after(story))
        return story->after;
    if (bounds == NULL) // what it returns is returned, with what it reported
        return tracked_in(&story->result, place_register(ISA_RETURN))
                   ? story->after | (way->after & WAY_AFTER_REPORT)
                   : story->after;
    bool vague = way->result.kind != VALUE_CONSTANT && !bounds->outside;
    return story->after | (way->fails ? WAY_AFTER_FAILURE
                           : vague    ? WAY_AFTER_ANYTHING
                                      : WAY_AFTER_SUCCESS);
}

bool story_asks_result(const struct story *story)
{
    const struct place result = place_register(ISA_RETURN);
    return tracked_in(&story->result, result) || tracked_in(&story->error, result) ||
           tracked_in(&story->stored, result) || known_result(story) != NULL;
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
        if (error_set_has(&all, i) && search_allows(search, story, &one))
            error_set_add(&some, i);
    }
    *error = error_sets_put(search->world->sets, &some, &value.set);
    return value;
}

// A value of the callee's: its arguments are what is handed over.
static void take(struct search *search, struct tracked *tracked, struct value value)
{
    struct place place;
    const struct operation negate = {.kind = OPERATION_NEGATE, .width = 8},
                           call = {.kind = OPERATION_SYSTEM_CALL, .width = 8};
    bool is_call = value.kind == VALUE_CALL;
    bool argument = is_call || value.kind == VALUE_ARGUMENT;
    if (!argument || !place_of_argument((unsigned)value.number, &place) ||
        tracked->operation_count + 2 > OPERATIONS) {
        tracked_set(search, tracked, argument ? (struct value){.kind = VALUE_OTHER} : value);
        return;
    }
    if (value.negative != is_call) // errors of calls are negative by themselves
        tracked->operations[tracked->operation_count++] = negate;
    if (is_call)
        tracked->operations[tracked->operation_count++] = call;
    tracked->state = TRACKED_PLACE;
    tracked->place = place;
}

// What follows a value survives the call only where it was saved, unless the call made it.
static void pass(struct search *search, struct tracked *tracked, struct value value)
{
    if (tracked_in(tracked, place_register(ISA_RETURN)))
        take(search, tracked, value);
    else
        tracked_clobber(tracked, PLACE_CLOBBERED);
}

// Effects of a local callee are this function's, as far as the caller can see them.
static void add_effects(struct search *search, struct story *story, const struct way *way,
                        uint32_t at)
{
    static const uint8_t kinds[] = {[ORIGIN_ARGUMENT] = EFFECT_ARGUMENT,
                                    [ORIGIN_GLOBAL] = EFFECT_GLOBAL,
                                    [ORIGIN_THREAD] = EFFECT_THREAD,
                                    [ORIGIN_OWN_THREAD] = EFFECT_OWN_THREAD};
    const struct flow_block *block = &search->image->blocks.items[story->block];
    for (unsigned i = 0; i < way->effect_count; i++) {
        struct effect effect = way->effects[i];
        struct place place;
        if (effect.kind == EFFECT_ARGUMENT) {
            if (!place_of_argument(effect.argument, &place))
                continue;
            struct origin origin =
                origin_of_register(search->image, block, at, place.reg, search->world);
            if (origin.kind == ORIGIN_UNKNOWN || origin.kind == ORIGIN_ERROR)
                continue;
            effect.kind = kinds[origin.kind];
            effect.argument = origin.argument;
            effect.where += origin.where;
        } else if (flow_callee_is_import(block->callee)) {
            continue; // addresses of another module
        }
        if (effect.source == 0)
            story_add_effect(story, &effect);
        else if (place_of_argument(effect.source - 1u, &place)) {
            effect.source = 0;
            story_follow_stored(story, &effect, place.reg);
        }
    }
}

// ---- functions that are handed over ----

// Whether nothing is done with a call's result but returning it.
static bool hands_on(const struct story *story)
{
    for (unsigned i = 0; i < story->result.operation_count; i++)
        if (story->result.operations[i].kind != OPERATION_EXTEND &&
            story->result.operations[i].kind != OPERATION_CUT)
            return false;
    return tracked_in(&story->result, place_register(ISA_RETURN));
}

// A call through an argument: callers know what it points to. False if it is none.
static bool calls_argument(const struct search *search, const struct story *story, uint32_t at,
                           struct value *ret_value)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    const struct isa_fact *fact = &search->image->facts.items[at];
    if (fact->kind != ISA_CALL_INDIRECT || (fact->flags & ISA_MEMORY) != 0 ||
        fact->src >= ISA_REGISTERS || !hands_on(story))
        return false;
    struct origin origin = origin_of_register(search->image, block, at, fact->src, search->world);
    *ret_value = (struct value){.kind = VALUE_POINTED, .number = origin.argument};
    return origin.kind == ORIGIN_ARGUMENT && origin.where == 0;
}

// A callee returns what the function that argument `number` points to does: who is that?
static struct error *go_through_pointed(struct search *search, const struct story *story,
                                        const struct way *way, uint32_t at)
{
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[story->block];
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    struct place place = {.kind = PLACE_STACK};
    struct way through = *way;
    through.result = (struct value){.kind = VALUE_OTHER};
    if (place_of_argument((unsigned)way->result.number, &place))
        origin = origin_of_register(image, block, at, place.reg, search->world);
    if (origin.kind == ORIGIN_ARGUMENT && origin.where == 0 && hands_on(story)) {
        struct story next;
        story_copy(&next, story);
        next.result.operation_count = 0;
        tracked_set(search, &next.result,
                    (struct value){.kind = VALUE_POINTED, .number = origin.argument});
        return search_go_through(search, &next, &through, at);
    }
    // Only what order.c sees as well, and has looked at.
    uint32_t callee = place.kind == PLACE_REGISTER && origin.kind != ORIGIN_ARGUMENT
                          ? flow_handed_over(image, block, place.reg)
                          : FLOW_NONE;
    const struct summary *pointed =
        callee != FLOW_NONE ? search->world->callee(search->world->data, callee) : NULL;
    for (size_t i = 0; pointed != NULL && i < pointed->ways.count; i++) {
        const struct way *inner = &pointed->ways.items[i];
        bool plain = inner->result.kind == VALUE_CONSTANT || inner->result.kind == VALUE_ERRORS;
        through.result = plain ? inner->result : (struct value){.kind = VALUE_OTHER};
        through.fails = inner->fails;
        if (!way->sets_error && inner->error.kind <= VALUE_ERRORS) {
            through.sets_error = inner->sets_error;
            through.error = inner->error;
        }
        TRY(search_go_through(search, story, &through, at));
    }
    return pointed != NULL && pointed->ways.count != 0
               ? NULL
               : search_go_through(search, story, &through, at);
}

// ---- calls ----

struct error *search_go_through_when(struct search *search, const struct story *story,
                                     const struct way *way, uint32_t at,
                                     const struct known *condition)
{
    if (way->result.kind == VALUE_POINTED)
        return go_through_pointed(search, story, way, at);
    if (!search_allows(search, story, &way->result))
        return NULL;
    struct story next;
    story_copy(&next, story);
    next.after = came_after(story, way);
    struct error *error = NULL;
    struct value value = within(search, story, way->result, &error);
    TRY(error);
    pass(search, &next.result, value);
    pass(search, &next.error, value);
    pass(search, &next.stored, value);
    story_settle_stored(&next);
    story_note_result(search, &next, at);
    if (search->errors && next.error.state == TRACKED_NOTHING && way->sets_error)
        take(search, &next.error, way->error);
    story_clobber_known(&next, PLACE_CLOBBERED);
    if (way->effect_count != 0 && story_is_near(&next) && !search->world->results_only &&
        !search->coarse)
        add_effects(search, &next, way, at);
    if (condition != NULL)
        story_add_known(&next, condition);
    next.at = at;
    return search_push(search, &next);
}

struct error *search_go_through(struct search *search, const struct story *story,
                                const struct way *way, uint32_t at)
{
    struct known condition = {.bounds = way->when};
    bool told = way->conditional && place_of_argument(way->argument, &condition.place);
    return search_go_through_when(search, story, way, at, told ? &condition : NULL);
}

// The one way of a function that is called for its effects.
static const struct way *only_effect(const struct summary *callee)
{
    const struct way *found = NULL;
    for (size_t i = 0; callee != NULL && i < callee->ways.count; i++) {
        const struct way *way = &callee->ways.items[i];
        if (found != NULL || (!way->sets_error && way->effect_count == 0))
            return NULL;
        found = way;
    }
    return found;
}

static bool asks_stack(const struct story *story)
{
    bool asks = story->result.state == TRACKED_PLACE && story->result.place.kind == PLACE_STACK;
    for (unsigned i = 0; i < story->known_count; i++)
        asks |= story->known[i].place.kind == PLACE_STACK;
    return asks;
}

static bool lies_in(struct place place, struct place variable)
{
    return place.kind == PLACE_STACK && place.slot >= variable.slot &&
           place.slot < variable.slot + LARGEST_VARIABLE;
}

// The variable whose address an instruction takes, if it is one of this function.
static bool takes_address(const struct flow_image *image, const struct flow_block *block,
                          uint32_t at, int32_t stack, struct place *ret_variable)
{
    const struct isa_fact *fact = &image->facts.items[at];
    *ret_variable = (struct place){.kind = PLACE_STACK, .slot = stack};
    if (fact->dst == ISA_FRAME || fact->dst == ISA_STACK)
        return false;
    return fact->kind == ISA_COPY
               ? fact->src == ISA_STACK && stack != FLOW_LOST
               : fact->kind == ISA_ADDRESS && place_of_memory(image, block, at, ret_variable);
}

// A variable whose address is taken in front of a call may be another one behind it.
static struct error *forget_handed_over(struct search *search, struct story *story, uint32_t at)
{
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[story->block];
    int32_t stack = block->stack, frame = block->frame;
    for (uint32_t i = block->first; i < at; i++) {
        struct place variable;
        bool takes = takes_address(image, block, i, stack, &variable);
        flow_move_stack(&image->facts.items[i], &stack, &frame);
        for (unsigned k = 0; takes && k < story->known_count;)
            if (lies_in(story->known[k].place, variable))
                story_forget(story, k);
            else
                k++;
        // The result may be what the callee puts there, which nobody knows, or what was there.
        if (takes && tracked_in(&story->result, variable)) {
            struct story other;
            story_copy(&other, story);
            tracked_set_other(&other.result);
            TRY(search_tell(search, &other));
        }
    }
    return NULL;
}

// Who nothing is known about: called through a pointer, in a library that is not there, or one that
// only hands on what such a one returned.
static bool is_vague(const struct summary *callee)
{
    return callee == NULL || callee->ways.count == 0 ||
           (callee->ways.count == 1 && callee->ways.items[0].result.kind == VALUE_OTHER &&
            !callee->ways.items[0].sets_error && callee->ways.items[0].effect_count == 0);
}

// if ((r = callback()) < 0) return r: that it can be negative nobody has to know from the callee.
// One such number stands for all.
static struct error *hand_on_negative(struct search *search, struct story *story, uint32_t at)
{
    const struct bounds *bounds = known_result(story);
    if (bounds == NULL || bounds->outside || bounds->low != INT64_MIN || bounds->high > 0 ||
        !hands_on(story))
        return NULL;
    struct story negative;
    story_copy(&negative, story);
    negative.after |= story_came_after(story) ? 0 : WAY_AFTER_FAILURE;
    tracked_set(search, &negative.result, value_constant(bounds->high < 0 ? bounds->high : -1));
    story_clobber(&negative, PLACE_CLOBBERED);
    story_note_result(search, &negative, at);
    negative.at = at;
    return search_push(search, &negative);
}

// What happened before this way was taken was an error: it is reported.
static void note_report(const struct search *search, const struct flow_block *block,
                        struct story *story)
{
    const struct search_world *world = search->world;
    if (!story_came_after(story) && block->callee != FLOW_NONE && world->reports != NULL &&
        world->reports(world->data, block->callee))
        story->after |= WAY_AFTER_REPORT;
}

struct error *search_step_call(struct search *search, struct story *story, uint32_t at,
                               bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    note_report(search, block, story);
    if (asks_stack(story))
        TRY(forget_handed_over(search, story, at));
    bool asks = story_asks_result(story);
    bool open = !search->world->results_only &&
                (story_is_near(story) || (search->errors && story->error.state == TRACKED_NOTHING));
    *ret_forked = false;
    const struct summary *callee = (asks || open) && block->callee != FLOW_NONE
                                       ? search->world->callee(search->world->data, block->callee)
                                       : NULL;
    if (asks && callee != NULL && callee->open) {
        *ret_forked = true; // nothing comes out of a circle that did not come from elsewhere
        return NULL;
    }
    if (asks && is_vague(callee))
        TRY(hand_on_negative(search, story, at));
    const struct way *effect = asks ? NULL : only_effect(callee);
    if (callee == NULL || callee->ways.count == 0 || (!asks && effect == NULL)) {
        struct value pointed;
        if (asks && !search->world->results_only && calls_argument(search, story, at, &pointed)) {
            story->result.operation_count = 0;
            tracked_set(search, &story->result, pointed);
        }
        story_clobber(story, PLACE_CLOBBERED);
        story_note_result(search, story, at);
        return NULL;
    }
    *ret_forked = true;
    if (effect != NULL)
        return search_go_through(search, story, effect, at);
    for (size_t i = 0; i < callee->ways.count; i++)
        TRY(search_go_through(search, story, &callee->ways.items[i], at));
    return NULL;
}
