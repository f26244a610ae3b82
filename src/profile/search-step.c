// SPDX-License-Identifier: GPL-3.0-or-later
// One instruction back: what a story follows, what it knows, what is stored where the caller sees
// it.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/origin.h"

// Stores that were found to lead nowhere the caller can see; they are met again and again.
static bool is_private(const struct search *search, uint32_t fact)
{
    return (search->world->private_stores[fact / 8] >> fact % 8 & 1) != 0;
}

// What a condition that held says about the flags' makings, from here on backwards.
void search_add_pending(struct search *search, struct story *story, uint32_t before,
                        enum isa_condition condition)
{
    struct known_bounds bounds;
    const struct flow_block *block = &search->image->blocks.items[story->block];
    if (story->pending_count == PENDING ||
        !place_bounds(search->image, block, before, condition, &bounds))
        return;
    story->pending[story->pending_count++] = (struct pending){
        .fact = bounds.fact, .known = {.place = bounds.place, .bounds = bounds.bounds}};
}

// Forks where the value depends on a condition. The story itself is the one where it held.
static struct error *fork_condition(struct search *search, struct story *story,
                                    struct tracked *tracked, const struct step *step, uint32_t at)
{
    struct story other = *story;
    struct tracked *others = tracked == &story->result ? &other.result : &other.error;
    other.at = at;
    search_add_pending(search, &other, at, step->condition ^ 1);
    if (step->kind == STEP_CONDITION)
        tracked_set(others, value_constant(step->otherwise));
    story_note_result(search, &other, at);
    TRY(search_push(search, &other));
    search_add_pending(search, story, at, step->condition);
    if (step->kind == STEP_CONDITION)
        tracked_set(tracked, value_constant(step->constant));
    else
        tracked->place = step->place;
    return NULL;
}

static struct error *step_tracked(struct search *search, struct story *story,
                                  struct tracked *tracked, uint32_t at)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    struct step step = place_step(search->image, block, at, tracked->place);
    switch (step.kind) {
    case STEP_SAME:
        return NULL;
    case STEP_CONSTANT:
        tracked_set(tracked, value_constant(step.constant));
        return NULL;
    case STEP_MOVED:
        if (step.operated && tracked->operation_count == OPERATIONS) {
            tracked_set_other(tracked);
            return NULL;
        }
        if (step.operated)
            tracked->operations[tracked->operation_count++] = step.operation;
        tracked->place = step.place;
        return NULL;
    case STEP_SELECTED:
    case STEP_CONDITION:
        return fork_condition(search, story, tracked, &step, at);
    default:
        tracked_set_other(tracked);
        return NULL;
    }
}

// False if what is known contradicts the instruction: this way cannot be.
static bool step_known(struct search *search, struct story *story, uint32_t at)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    for (unsigned i = 0; i < story->known_count;) {
        struct known *known = &story->known[i];
        struct step step = place_step(search->image, block, at, known->place);
        if (step.kind == STEP_CONSTANT) {
            struct value value = value_constant(step.constant);
            if (!bounds_allow(&known->bounds, search->world->sets, &value))
                return false;
            story_forget(story, i);
        } else if (step.kind == STEP_SAME) {
            i++;
        } else if (step.kind == STEP_MOVED && !step.operated) {
            known->place = step.place;
            i++;
        } else {
            story_forget(story, i);
        }
    }
    return true;
}

static void step_pending(struct story *story, uint32_t at)
{
    for (unsigned i = 0; i < story->pending_count;) {
        if (story->pending[i].fact != at) {
            i++;
            continue;
        }
        story_add_known(story, &story->pending[i].known);
        story->pending[i] = story->pending[--story->pending_count];
    }
}

bool search_is_store(const struct isa_fact *fact)
{
    return (fact->kind == ISA_STORE || fact->kind == ISA_STORE_CONSTANT) &&
           (fact->flags & ISA_MEMORY) != 0 && fact->base != ISA_STACK;
}

static void add_effect(struct story *story, const struct isa_fact *fact,
                       const struct origin *origin)
{
    static const uint8_t kinds[] = {[ORIGIN_ARGUMENT] = EFFECT_ARGUMENT,
                                    [ORIGIN_GLOBAL] = EFFECT_GLOBAL,
                                    [ORIGIN_THREAD] = EFFECT_THREAD};
    if (fact->kind != ISA_STORE_CONSTANT || story->effect_count == OUTCOME_EFFECTS)
        return;
    for (unsigned i = 0; i < story->effect_count; i++)
        if (story->effects[i].kind == kinds[origin->kind] &&
            story->effects[i].where == origin->where &&
            story->effects[i].argument == origin->argument)
            return; // a later store overwrites this one
    story->effects[story->effect_count++] = (struct effect){.kind = kinds[origin->kind],
                                                            .argument = origin->argument,
                                                            .width = fact->width,
                                                            .where = origin->where,
                                                            .value = fact->value};
}

// Stores that the caller can see.
static void step_store(struct search *search, struct story *story, uint32_t at)
{
    const struct isa_fact *fact = &search->image->facts.items[at];
    const struct flow_block *block = &search->image->blocks.items[story->block];
    bool near = story->result_block == FLOW_NONE || story->result_block == story->block;
    bool error_open = search->errors && story->error.state == TRACKED_NOTHING;
    if (search->world->results_only || !search_is_store(fact) || (!near && !error_open) ||
        is_private(search, at))
        return;
    struct origin origin = origin_of_store(search->image, block, at, search->world);
    if (origin.kind == ORIGIN_UNKNOWN)
        search->world->private_stores[at / 8] |= (uint8_t)(1u << at % 8);
    if (origin.kind == ORIGIN_ERROR && error_open) {
        story->error = (struct tracked){.state = TRACKED_PLACE, .place = place_register(fact->src)};
        if (fact->kind == ISA_STORE_CONSTANT)
            tracked_set(&story->error, value_constant(fact->value));
        else if (fact->src == ISA_NONE)
            tracked_set_other(&story->error);
    } else if (near && origin.kind != ORIGIN_ERROR && origin.kind != ORIGIN_UNKNOWN) {
        add_effect(story, fact, &origin);
    }
}

struct error *search_step(struct search *search, struct story *story, uint32_t at, bool *ret_ended)
{
    const struct isa_fact *fact = &search->image->facts.items[at];
    *ret_ended = false;
    if (fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT)
        return search_step_call(search, story, at, ret_ended);
    if (fact->kind == ISA_SYSCALL)
        return search_step_system_call(search, story, at, ret_ended);
    if (!step_known(search, story, at)) {
        *ret_ended = true;
        return NULL;
    }
    step_store(search, story, at);
    if (story->result.state == TRACKED_PLACE)
        TRY(step_tracked(search, story, &story->result, at));
    if (story->error.state == TRACKED_PLACE)
        TRY(step_tracked(search, story, &story->error, at));
    story_note_result(search, story, at);
    step_pending(story,
                 at); // last: the bounds hold before the instruction, which may change the place
    return NULL;
}
