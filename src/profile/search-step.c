// SPDX-License-Identifier: GPL-3.0-or-later
// One instruction back: what a story follows, what it knows, what is stored where the caller sees
// it.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/origin.h"

#define FEW 64 // numbers that are looked at one by one

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
    story->pending[story->pending_count++] =
        (struct pending){.fact = bounds.fact,
                         .after = bounds.after,
                         .known = {.place = bounds.place, .bounds = bounds.bounds}};
}

// The same of another story.
static struct tracked *twin(const struct story *story, struct story *other,
                            const struct tracked *tracked)
{
    if (tracked == &story->result)
        return &other->result;
    return tracked == &story->error ? &other->error : &other->stored;
}

static void settle(struct search *search, struct story *story, uint32_t at)
{
    story_settle_stored(story);
    story_note_result(search, story, at);
}

static void know_sign(struct story *story, struct place place, bool negative)
{
    story_add_known(
        story, &(struct known){.place = place,
                               .bounds = {.low = INT64_MIN, .high = -1, .outside = !negative}});
}

// Forks where the value depends on a condition. The story itself is the one where it held.
static struct error *fork_condition(struct search *search, struct story *story,
                                    struct tracked *tracked, const struct step *step, uint32_t at)
{
    struct story other;
    story_copy(&other, story);
    struct tracked *others = twin(story, &other, tracked);
    bool signs = step->kind == STEP_SIGN || step->kind == STEP_NEGATIVE;
    bool constant = step->kind != STEP_SELECTED;
    other.at = at;
    if (signs)
        know_sign(&other, step->place, false);
    else
        search_add_pending(search, &other, at, step->condition ^ 1);
    if (constant)
        tracked_set(search, others, value_constant(step->otherwise));
    settle(search, &other, at);
    TRY(search_push(search, &other));
    if (signs)
        know_sign(story, step->place, true);
    else
        search_add_pending(search, story, at, step->condition);
    if (constant && step->kind != STEP_NEGATIVE)
        tracked_set(search, tracked, value_constant(step->constant));
    else if (step->unknown)
        tracked_set_other(tracked);
    else
        tracked->place = step->place;
    return NULL;
}

// The same done twice to the same place: a counter, whose values mean nothing.
static bool counts(const struct tracked *tracked, const struct step *step)
{
    if (step->operation_count == 0 || tracked->operation_count == 0 ||
        !place_equal(tracked->place, step->place))
        return false;
    const struct operation *last = &tracked->operations[tracked->operation_count - 1];
    const struct operation *next = &step->operations[0];
    return last->kind == OPERATION_ADD && next->kind == OPERATION_ADD &&
           last->value == next->value && last->width == next->width;
}

static void move(struct tracked *tracked, const struct step *step)
{
    if (tracked->operation_count + step->operation_count > OPERATIONS || counts(tracked, step)) {
        tracked_set_other(tracked);
        return;
    }
    for (unsigned i = 0; i < step->operation_count; i++)
        tracked->operations[tracked->operation_count++] = step->operations[i];
    tracked->place = step->place;
}

static struct error *step_tracked(struct search *search, struct story *story,
                                  struct tracked *tracked, uint32_t at)
{
    if (tracked->state != TRACKED_PLACE)
        return NULL;
    const struct flow_block *block = &search->image->blocks.items[story->block];
    struct step step = place_step(search->image, block, at, tracked->place);
    switch (step.kind) {
    case STEP_SAME:
        return NULL;
    case STEP_CONSTANT:
        tracked_set(search, tracked, value_constant(step.constant));
        return NULL;
    case STEP_MOVED:
        move(tracked, &step);
        return NULL;
    case STEP_SELECTED:
    case STEP_CONDITION:
    case STEP_SIGN:
    case STEP_NEGATIVE:
        return fork_condition(search, story, tracked, &step, at);
    default:
        tracked_set_other(tracked);
        return NULL;
    }
}

// ---- what is known of other places ----

static bool is_real(const struct tracked *tracked)
{
    for (unsigned i = 0; i < tracked->operation_count; i++)
        if (tracked->operations[i].kind != OPERATION_EXTEND &&
            tracked->operations[i].kind != OPERATION_CUT)
            return true;
    return false;
}

// A place that can only hold a few numbers: the value is what becomes of them. Where nothing is
// done with them they are not constants of this function, unless there is just one.
static struct error *fork_few(struct search *search, struct story *story, struct tracked *tracked,
                              const struct bounds *bounds, uint32_t at)
{
    uint64_t more = (uint64_t)bounds->high - (uint64_t)bounds->low;
    if (bounds->outside || bounds->low > bounds->high || more >= FEW ||
        (more != 0 && !is_real(tracked)))
        return NULL;
    for (uint64_t i = 1; i <= more; i++) {
        struct story other;
        story_copy(&other, story);
        struct tracked *others = twin(story, &other, tracked);
        tracked_set(search, others, value_constant(bounds->low + (int64_t)i));
        other.at = at;
        settle(search, &other, at);
        TRY(search_push(search, &other));
    }
    tracked_set(search, tracked, value_constant(bounds->low));
    return NULL;
}

// Whether something is known of a place that cannot be true at once.
static bool contradicts(const struct story *story)
{
    for (unsigned i = 1; i < story->known_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (place_equal(story->known[i].place, story->known[k].place) &&
                bounds_exclude(&story->known[i].bounds, &story->known[k].bounds))
                return true;
    return false;
}

static struct error *use_known(struct search *search, struct story *story, uint32_t at)
{
    struct tracked *all[] = {&story->result, &story->error, &story->stored};
    for (unsigned t = 0; t < 3; t++)
        for (unsigned i = 0; i < story->known_count; i++)
            if (tracked_in(all[t], story->known[i].place))
                TRY(fork_few(search, story, all[t], &story->known[i].bounds, at));
    return NULL;
}

// Bounds of a place before what was done with it; false if that is not known.
static bool carry_over(struct known *known, const struct step *step)
{
    struct bounds *bounds = &known->bounds;
    for (unsigned i = 0; i < step->operation_count; i++) {
        const struct operation *operation = &step->operations[i];
        bool keeps = (operation->kind == OPERATION_EXTEND || operation->kind == OPERATION_CUT) &&
                     operation->width >= 4;
        bool adds = operation->kind == OPERATION_ADD && operation->width >= 4 &&
                    bounds->low > INT32_MIN && bounds->high < INT32_MAX &&
                    !place_equal(known->place, step->place); // a counter has no end
        if (!keeps && !adds)
            return false;
        bounds->low -= adds ? operation->value : 0;
        bounds->high -= adds ? operation->value : 0;
    }
    return true;
}

// What is known was made by a condition: which of its two outcomes was it? False if neither.
static bool choose(struct search *search, struct story *story, unsigned index,
                   const struct step *step, uint32_t at)
{
    const struct bounds bounds = story->known[index].bounds;
    struct value held = value_constant(step->constant), failed = value_constant(step->otherwise);
    bool yes = bounds_allow(&bounds, search->world->sets, &held),
         no = bounds_allow(&bounds, search->world->sets, &failed);
    if (yes != no)
        search_add_pending(search, story, at, yes ? step->condition : step->condition ^ 1);
    return yes || no;
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
        } else if (step.kind == STEP_MOVED && carry_over(known, &step)) {
            known->place = step.place;
            i++;
        } else if (step.kind == STEP_CONDITION) {
            if (!choose(search, story, i, &step, at))
                return false;
            story_forget(story, i);
        } else {
            story_forget(story, i);
        }
    }
    return true;
}

static void step_pending(struct story *story, uint32_t at, bool after)
{
    for (unsigned i = 0; i < story->pending_count;) {
        if (story->pending[i].fact != at || story->pending[i].after != after) {
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
                                    [ORIGIN_THREAD] = EFFECT_THREAD,
                                    [ORIGIN_OWN_THREAD] = EFFECT_OWN_THREAD};
    const struct effect effect = {.kind = kinds[origin->kind],
                                  .argument = origin->argument,
                                  .width = fact->width,
                                  .where = origin->where,
                                  .value = fact->value};
    if (fact->kind == ISA_STORE_CONSTANT)
        story_add_effect(story, &effect);
    else
        story_follow_stored(story, &effect, fact->src);
}

// Stores that the caller can see.
static void step_store(struct search *search, struct story *story, uint32_t at)
{
    const struct isa_fact *fact = &search->image->facts.items[at];
    const struct flow_block *block = &search->image->blocks.items[story->block];
    bool near = story_is_near(story) && !search->coarse;
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
            tracked_set(search, &story->error, value_constant(fact->value));
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
    if (story->pending_count != 0) {
        step_pending(story, at, true);
        TRY(use_known(search, story, at + 1));
        settle(search, story, at);
    }
    if (!step_known(search, story, at)) {
        *ret_ended = true;
        return NULL;
    }
    step_store(search, story, at);
    TRY(step_tracked(search, story, &story->result, at));
    TRY(step_tracked(search, story, &story->error, at));
    // What this instruction itself stores was in its register before it, as it is after it.
    TRY(step_tracked(search, story, &story->stored, at));
    // Last: the bounds hold before the instruction, which may change the place.
    step_pending(story, at, false);
    if (contradicts(story)) {
        *ret_ended = true;
        return NULL;
    }
    if (story->known_count != 0)
        TRY(use_known(search, story, at));
    settle(search, story, at);
    return NULL;
}
