// SPDX-License-Identifier: GPL-3.0-or-later
// See search.h. A *story* is a way out of the function, followed from its end backwards: where the
// result is at this point or what it is, the same for errno, and what is known about other places.
// A story forks where ways meet and ends when everything is known or the function begins. Stories
// that enter a block in the same state are told once, which bounds the work.
#include "profile/search.h"

#include "base/cleanup.h"
#include "profile/origin.h"
#include "profile/place.h"

#include <stdlib.h>
#include <string.h>

#define OPERATIONS          3
#define KNOWN               3
#define PENDING             2
#define WATCH_STACK         (1u << 31)
#define MOST_STORIES(facts) (2000 + 8 * (uint64_t)(facts))

enum tracked_state { TRACKED_NOTHING, TRACKED_PLACE, TRACKED_VALUE };
struct tracked {
    uint8_t state;
    uint8_t operation_count;
    struct place place;
    struct operation operations[OPERATIONS]; // the last is applied first
    struct value value;
};

struct known { // bounds of a place at this point
    struct place place;
    struct bounds bounds;
};

struct pending { // a condition that is known to hold; its flags are set further back
    uint32_t fact;
    struct known known;
};

struct story {
    uint32_t block, at; // the next instruction to look at is the one before `at`
    struct tracked result, error;
    uint8_t known_count, pending_count, effect_count;
    struct known known[KNOWN];
    struct pending pending[PENDING];
    struct effect effects[OUTCOME_EFFECTS];
    uint64_t evidence;
    uint32_t result_block; // where the result became known, or FLOW_NONE
};

struct search {
    const struct flow_image *image;
    const struct search_world *world;
    uint32_t function;
    struct summary *summary;
    ARRAY(struct story) work;
    uint64_t *seen; // open addressing, hashes
    size_t seen_count, seen_room;
    uint64_t budget;
    bool errors; // whether errno is of interest
};

// Stores that were found to lead nowhere the caller can see; they are met again and again.
static bool is_private(const struct search *search, uint32_t fact)
{
    return (search->world->private_stores[fact / 8] >> fact % 8 & 1) != 0;
}

static void search_deinit(struct search *search)
{
    ARRAY_DEINIT(&search->work);
    free(search->seen);
}

static struct error *push(struct search *search, const struct story *story)
{
    struct story *added = ARRAY_ADD(&search->work);
    if (added == NULL)
        return error_no_memory();
    *added = *story;
    return NULL;
}

// ---- states that were met before ----

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint64_t place_word(struct place place)
{
    return place.kind == PLACE_STACK ? 0x100000000ull | (uint32_t)place.slot : place.reg;
}

static uint64_t hash_tracked(uint64_t hash, const struct tracked *tracked)
{
    hash = mix(hash, tracked->state);
    if (tracked->state == TRACKED_VALUE) {
        hash = mix(hash, (uint64_t)tracked->value.number);
        return mix(hash, (uint64_t)tracked->value.set << 16 | tracked->value.negative << 8 |
                             tracked->value.kind);
    }
    if (tracked->state != TRACKED_PLACE)
        return hash;
    hash = mix(hash, place_word(tracked->place));
    for (unsigned i = 0; i < tracked->operation_count; i++) {
        const struct operation *operation = &tracked->operations[i];
        hash = mix(hash, (uint64_t)(uint32_t)operation->value << 16 | operation->width << 8 |
                             operation->kind);
    }
    return hash;
}

static uint64_t hash_known(uint64_t hash, const struct known *known)
{
    hash = mix(hash, place_word(known->place));
    hash = mix(hash, (uint64_t)known->bounds.low);
    return mix(hash, (uint64_t)known->bounds.high ^ (known->bounds.outside ? 1ull << 62 : 0));
}

static uint64_t hash_story(const struct story *story)
{
    uint64_t hash = mix(1, story->block);
    hash = hash_tracked(hash, &story->result);
    hash = hash_tracked(hash, &story->error);
    for (unsigned i = 0; i < story->known_count; i++)
        hash = hash_known(hash, &story->known[i]);
    for (unsigned i = 0; i < story->pending_count; i++)
        hash = hash_known(mix(hash, 'p'), &story->pending[i].known);
    for (unsigned i = 0; i < story->effect_count; i++) {
        hash = mix(hash, (uint64_t)story->effects[i].where << 8 | story->effects[i].kind);
        hash = mix(hash, (uint64_t)story->effects[i].value);
    }
    return hash | 1;
}

static struct error *grow_seen(struct search *search)
{
    size_t room = search->seen_room == 0 ? 256 : search->seen_room * 2;
    uint64_t *seen = calloc(room, sizeof *seen);
    if (seen == NULL)
        return error_no_memory();
    for (size_t i = 0; i < search->seen_room; i++) {
        if (search->seen[i] == 0)
            continue;
        size_t at = search->seen[i] >> 7;
        while (seen[at & (room - 1)] != 0)
            at++;
        seen[at & (room - 1)] = search->seen[i];
    }
    free(search->seen);
    search->seen = seen;
    search->seen_room = room;
    return NULL;
}

// Whether it is the first to come here in this state.
static struct error *is_new(struct search *search, const struct story *story, bool *ret_new)
{
    if (search->seen_count * 2 >= search->seen_room)
        TRY(grow_seen(search));
    uint64_t hash = hash_story(story);
    size_t at = hash >> 7;
    for (;; at++) {
        uint64_t *slot = &search->seen[at & (search->seen_room - 1)];
        if (*slot == hash) {
            *ret_new = false;
            return NULL;
        }
        if (*slot == 0) {
            *slot = hash;
            search->seen_count++;
            *ret_new = true;
            return NULL;
        }
    }
}

// ---- the end of a story ----

static struct value resolve(const struct tracked *tracked, struct value value)
{
    for (unsigned i = tracked->operation_count; i-- > 0;)
        value = value_apply(value, tracked->operations[i]);
    return value;
}

static struct error *tell(struct search *search, const struct story *story)
{
    struct way way = {.evidence = story->evidence};
    if (story->result.state == TRACKED_VALUE)
        way.result = story->result.value;
    if (way.result.kind == VALUE_CONSTANT || way.result.kind == VALUE_ERRORS) {
        way.sets_error = story->error.state != TRACKED_NOTHING;
        if (story->error.state == TRACKED_VALUE)
            way.error = story->error.value;
        way.effect_count = story->effect_count;
        memcpy(way.effects, story->effects, sizeof way.effects);
    } else {
        way.evidence = 0;
    }
    return summary_add(search->summary, &way);
}

// ---- one instruction back ----

static void set_value(struct tracked *tracked, struct value value)
{
    tracked->value = resolve(tracked, value);
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

static void set_other(struct tracked *tracked)
{
    set_value(tracked, (struct value){.kind = VALUE_OTHER});
}

static struct value constant(int64_t number)
{
    return (struct value){.kind = VALUE_CONSTANT, .number = number};
}

static void note_result(struct search *search, struct story *story, uint32_t at)
{
    if (story->result.state != TRACKED_VALUE || story->result_block != FLOW_NONE)
        return;
    story->result_block = story->block;
    story->evidence = flow_address(search->image, &search->image->facts.items[at]);
}

// What a condition that held says about the flags' makings, from here on backwards.
static void add_pending(struct search *search, struct story *story, uint32_t before,
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
    add_pending(search, &other, at, step->condition ^ 1);
    if (step->kind == STEP_CONDITION)
        set_value(others, constant(step->otherwise));
    note_result(search, &other, at);
    TRY(push(search, &other));
    add_pending(search, story, at, step->condition);
    if (step->kind == STEP_CONDITION)
        set_value(tracked, constant(step->constant));
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
        set_value(tracked, constant(step.constant));
        return NULL;
    case STEP_MOVED:
        if (step.operated && tracked->operation_count == OPERATIONS) {
            set_other(tracked);
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
        set_other(tracked);
        return NULL;
    }
}

static void forget(struct story *story, unsigned index)
{
    story->known[index] = story->known[--story->known_count];
}

// False if what is known contradicts the instruction: this way cannot be.
static bool step_known(struct search *search, struct story *story, uint32_t at)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    for (unsigned i = 0; i < story->known_count;) {
        struct known *known = &story->known[i];
        struct step step = place_step(search->image, block, at, known->place);
        if (step.kind == STEP_CONSTANT) {
            struct value value = constant(step.constant);
            if (!bounds_allow(&known->bounds, search->world->sets, &value))
                return false;
            forget(story, i);
        } else if (step.kind == STEP_SAME) {
            i++;
        } else if (step.kind == STEP_MOVED && !step.operated) {
            known->place = step.place;
            i++;
        } else {
            forget(story, i);
        }
    }
    return true;
}

static void add_known(struct story *story, const struct known *known)
{
    if (story->known_count == KNOWN) // the oldest is the least likely to matter still
        forget(story, 0);
    story->known[story->known_count++] = *known;
}

static void step_pending(struct story *story, uint32_t at)
{
    for (unsigned i = 0; i < story->pending_count;) {
        if (story->pending[i].fact != at) {
            i++;
            continue;
        }
        add_known(story, &story->pending[i].known);
        story->pending[i] = story->pending[--story->pending_count];
    }
}

static bool is_store(const struct isa_fact *fact)
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
    if (!is_store(fact) || (!near && !error_open) || is_private(search, at))
        return;
    struct origin origin = origin_of_store(search->image, block, at, search->world);
    if (origin.kind == ORIGIN_UNKNOWN)
        search->world->private_stores[at / 8] |= (uint8_t)(1u << at % 8);
    if (origin.kind == ORIGIN_ERROR && error_open) {
        story->error = (struct tracked){.state = TRACKED_PLACE, .place = place_register(fact->src)};
        if (fact->kind == ISA_STORE_CONSTANT)
            set_value(&story->error, constant(fact->value));
        else if (fact->src == ISA_NONE)
            set_other(&story->error);
    } else if (near && origin.kind != ORIGIN_ERROR && origin.kind != ORIGIN_UNKNOWN) {
        add_effect(story, fact, &origin);
    }
}

// ---- calls ----

static bool in_register(const struct tracked *tracked, uint8_t reg)
{
    return tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
           tracked->place.reg == reg;
}

static void clobber_tracked(struct tracked *tracked, uint32_t registers)
{
    if (tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
        (registers >> tracked->place.reg & 1) != 0)
        set_other(tracked);
}

static void clobber(struct story *story, uint32_t registers)
{
    clobber_tracked(&story->result, registers);
    clobber_tracked(&story->error, registers);
    for (unsigned i = 0; i < story->known_count;)
        if (story->known[i].place.kind == PLACE_REGISTER &&
            (registers >> story->known[i].place.reg & 1) != 0)
            forget(story, i);
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
        struct value one = constant(value.negative ? -(int64_t)i : (int64_t)i);
        if (error_set_has(&all, i) && allowed(search, story, &one))
            error_set_add(&some, i);
    }
    *error = error_sets_put(search->world->sets, &some, &value.set);
    return value;
}

// One of the callee's ways is part of this story.
static struct error *go_through(struct search *search, const struct story *story,
                                const struct way *way, uint32_t at)
{
    if (!allowed(search, story, &way->result))
        return NULL;
    struct story next = *story;
    struct error *error = NULL;
    struct value value = within(search, story, way->result, &error);
    TRY(error);
    if (in_register(&next.result, ISA_RETURN))
        set_value(&next.result, value);
    if (in_register(&next.error, ISA_RETURN))
        set_value(&next.error, value);
    note_result(search, &next, at);
    if (search->errors && next.error.state == TRACKED_NOTHING && way->sets_error) {
        next.error.state = TRACKED_VALUE;
        next.error.value = way->error;
    }
    clobber(&next, PLACE_CLOBBERED);
    next.at = at;
    return push(search, &next);
}

static struct error *step_call(struct search *search, struct story *story, uint32_t at,
                               bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    *ret_forked = false;
    const struct summary *callee = asks_result(story) && block->callee != FLOW_NONE
                                       ? search->world->callee(search->world->data, block->callee)
                                       : NULL;
    if (callee == NULL || callee->ways.count == 0) {
        clobber(story, PLACE_CLOBBERED);
        note_result(search, story, at);
        return NULL;
    }
    *ret_forked = true;
    for (size_t i = 0; i < callee->ways.count; i++)
        TRY(go_through(search, story, &callee->ways.items[i], at));
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

static struct error *step_system_call(struct search *search, struct story *story, uint32_t at,
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
        note_result(search, story, at);
        return NULL;
    }
    struct way failed = {.result = {.kind = VALUE_ERRORS, .negative = true}},
               worked = {.result = {.kind = VALUE_WORKED}};
    TRY(error_sets_put(search->world->sets, errors, &failed.result.set));
    TRY(go_through(search, story, &failed, at));
    return go_through(search, story, &worked, at);
}

// ---- a block, and what comes before it ----

static bool is_over(const struct search *search, const struct story *story)
{
    if (story->result.state != TRACKED_VALUE)
        return false;
    if (story->result.value.kind == VALUE_OTHER || story->result.value.kind == VALUE_WORKED)
        return true;
    bool error_known = !search->errors || story->error.state == TRACKED_VALUE;
    return error_known && story->result_block != story->block;
}

// Registers the story asks about; all of them if it asks about the stack.
static uint32_t watched(const struct story *story)
{
    uint32_t mask = 0;
    const struct tracked *tracked[] = {&story->result, &story->error};
    for (unsigned i = 0; i < 2; i++)
        if (tracked[i]->state == TRACKED_PLACE)
            mask |=
                tracked[i]->place.kind == PLACE_STACK ? WATCH_STACK : 1u << tracked[i]->place.reg;
    for (unsigned i = 0; i < story->known_count; i++)
        mask |= story->known[i].place.kind == PLACE_STACK ? WATCH_STACK
                                                          : 1u << story->known[i].place.reg;
    return mask;
}

// Most instructions concern nothing that is asked about.
static bool concerns(const struct story *story, const struct isa_fact *fact, uint32_t at,
                     uint32_t mask)
{
    switch (fact->kind) {
    case ISA_CALL:
    case ISA_CALL_INDIRECT:
    case ISA_SYSCALL:
    case ISA_STORE:
    case ISA_STORE_CONSTANT:
        return true;
    case ISA_PUSH:
    case ISA_SET:
        if ((mask & WATCH_STACK) != 0)
            return true;
        break;
    default:
        break;
    }
    if ((fact->writes & mask) != 0)
        return true;
    for (unsigned i = 0; i < story->pending_count; i++)
        if (story->pending[i].fact == at)
            return true;
    return false;
}

static struct error *step_fact(struct search *search, struct story *story, uint32_t at,
                               bool *ret_ended)
{
    const struct isa_fact *fact = &search->image->facts.items[at];
    *ret_ended = false;
    if (fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT)
        return step_call(search, story, at, ret_ended);
    if (fact->kind == ISA_SYSCALL)
        return step_system_call(search, story, at, ret_ended);
    if (!step_known(search, story, at)) {
        *ret_ended = true;
        return NULL;
    }
    step_store(search, story, at);
    if (story->result.state == TRACKED_PLACE)
        TRY(step_tracked(search, story, &story->result, at));
    if (story->error.state == TRACKED_PLACE)
        TRY(step_tracked(search, story, &story->error, at));
    note_result(search, story, at);
    step_pending(story,
                 at); // last: the bounds hold before the instruction, which may change the place
    return NULL;
}

static bool comes_back(const struct flow_image *image, const struct flow_block *block)
{
    if (block->end != FLOW_CALLS || block->callee == FLOW_NONE)
        return true;
    return flow_callee_is_import(block->callee)
               ? image->imports.items[flow_callee_import(block->callee)].returns
               : image->functions.items[block->callee].returns;
}

static struct error *go_before(struct search *search, struct story *story)
{
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[story->block];
    if (story->block == image->functions.items[search->function].first_block) {
        struct story over = *story;
        if (over.result.state == TRACKED_PLACE)
            set_other(&over.result); // an argument
        if (over.error.state == TRACKED_PLACE)
            set_other(&over.error);
        TRY(tell(search, &over));
    } else if (block->in_count == 0) {
        if (story->result.state == TRACKED_VALUE)
            TRY(tell(search, story));
    }
    for (uint32_t i = 0; i < block->in_count; i++) {
        struct flow_edge edge = image->edges.items[block->edges_in + i];
        const struct flow_block *before = &image->blocks.items[edge.block];
        if (!comes_back(image, before))
            continue;
        struct story next = *story;
        next.block = edge.block;
        next.at = before->first + before->count;
        next.pending_count = 0;
        const struct isa_fact *last = &image->facts.items[next.at - 1];
        if (last->kind == ISA_BRANCH && edge.way != FLOW_TABLE && last->condition < ISA_IF_UNKNOWN)
            add_pending(search, &next, next.at - 1,
                        edge.way == FLOW_TAKEN ? last->condition : last->condition ^ 1u);
        bool fresh;
        TRY(is_new(search, &next, &fresh));
        if (fresh)
            TRY(push(search, &next));
    }
    return NULL;
}

static struct error *follow(struct search *search, struct story *story)
{
    const struct flow_block *block = &search->image->blocks.items[story->block];
    uint32_t mask = watched(story);
    while (story->at > block->first) {
        bool ended;
        story->at--;
        if (!concerns(story, &search->image->facts.items[story->at], story->at, mask))
            continue;
        TRY(step_fact(search, story, story->at, &ended));
        if (ended)
            return NULL;
        mask = watched(story);
        if (is_over(search, story))
            return tell(search, story);
    }
    if (is_over(search, story))
        return tell(search, story);
    // Effects are looked for up to the block where the result became known.
    if (story->result_block == story->block && !search->errors)
        return tell(search, story);
    return go_before(search, story);
}

static struct error *start_at_end(struct search *search, uint32_t number)
{
    const struct flow_block *block = &search->image->blocks.items[number];
    struct story story = {.block = number,
                          .at = block->first + block->count,
                          .result = {.state = TRACKED_PLACE, .place = place_register(ISA_RETURN)},
                          .result_block = FLOW_NONE};
    if (block->end == FLOW_RETURNS)
        return push(search, &story);
    if (block->end == FLOW_UNKNOWN)
        return tell(search, &story);
    // A tail call: the callee's results are this function's.
    const struct summary *callee = search->world->callee(search->world->data, block->callee);
    if (callee == NULL || callee->ways.count == 0)
        return tell(search, &story);
    for (size_t i = 0; i < callee->ways.count; i++)
        TRY(go_through(search, &story, &callee->ways.items[i], story.at - 1));
    return NULL;
}

// Whether a range of the function or anything it calls directly may set errno.
static bool range_may_set_error(const struct search *search, const struct flow_function *range)
{
    const struct flow_image *image = search->image;
    for (uint32_t i = 0; i < range->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + i];
        for (uint32_t f = block->first; f < block->first + block->count; f++) {
            const struct isa_fact *fact = &image->facts.items[f];
            if (is_store(fact) && (fact->flags & ISA_THREAD) != 0)
                return true;
        }
        if (block->callee == FLOW_NONE)
            continue;
        if (flow_callee_is_import(block->callee) &&
            strcmp(image->imports.items[flow_callee_import(block->callee)].name,
                   "__errno_location") == 0)
            return true;
        const struct summary *callee = search->world->callee(search->world->data, block->callee);
        for (size_t w = 0; callee != NULL && w < callee->ways.count; w++)
            if (callee->ways.items[w].sets_error)
                return true;
    }
    return false;
}

static struct error *start_range(struct search *search, const struct flow_function *range)
{
    for (uint32_t b = 0; b < range->block_count; b++) {
        uint8_t end = search->image->blocks.items[range->first_block + b].end;
        if (end == FLOW_RETURNS || end == FLOW_TAIL || end == FLOW_UNKNOWN)
            TRY(start_at_end(search, range->first_block + b));
    }
    return NULL;
}

struct error *search_function(const struct flow_image *image, uint32_t function,
                              const struct search_world *world, struct summary *summary)
{
    _cleanup_(search_deinit) struct search search = {
        .image = image, .world = world, .function = function, .summary = summary};
    const struct flow_function *functions = image->functions.items;
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part) {
        search.budget += MOST_STORIES(functions[f].fact_count);
        search.errors = search.errors || range_may_set_error(&search, &functions[f]);
    }
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part)
        TRY(start_range(&search, &functions[f]));
    while (search.work.count != 0) {
        if (search.budget-- == 0) {
            summary->cut = true;
            break;
        }
        struct story story = search.work.items[--search.work.count];
        TRY(follow(&search, &story));
    }
    return NULL;
}
