// SPDX-License-Identifier: GPL-3.0-or-later
// What a story knows, and which states were met before: stories that enter a block in the same
// state are told once, which bounds the work.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "elf/tables.h"

#include <errno.h>
#include <string.h>

struct error *search_push(struct search *search, const struct story *story)
{
    if (search->work.count < search->work.room) { // nearly always: nothing needs to be cleared
        story_copy(&search->work.items[search->work.count++], story);
        return NULL;
    }
    struct story *added = ARRAY_ADD(&search->work);
    if (added == NULL)
        return error_no_memory();
    story_copy(added, story);
    return NULL;
}

// ---- states that were met before ----

static uint64_t place_word(struct place place)
{
    return place.kind == PLACE_STACK ? 0x100000000ull | (uint32_t)place.slot : place.reg;
}

static uint64_t hash_tracked(uint64_t hash, const struct tracked *tracked)
{
    hash = hash_mix(hash, tracked->state);
    if (tracked->state == TRACKED_VALUE) {
        hash = hash_mix(hash, (uint64_t)tracked->value.number);
        return hash_mix(hash, (uint64_t)tracked->value.set << 16 | tracked->value.negative << 8 |
                                  tracked->value.kind);
    }
    if (tracked->state != TRACKED_PLACE)
        return hash;
    hash = hash_mix(hash, place_word(tracked->place));
    for (unsigned i = 0; i < tracked->operation_count; i++) {
        const struct operation *operation = &tracked->operations[i];
        hash = hash_mix(hash, (uint64_t)(uint32_t)operation->value << 16 | operation->width << 8 |
                                  operation->kind);
    }
    return hash;
}

static uint64_t hash_known(uint64_t hash, const struct known *known)
{
    hash = hash_mix(hash, place_word(known->place));
    hash = hash_mix(hash, (uint64_t)known->bounds.low);
    return hash_mix(hash, (uint64_t)known->bounds.high ^ (known->bounds.outside ? 1ull << 62 : 0));
}

static uint64_t hash_story(const struct story *story)
{
    uint64_t hash = hash_mix(1, story->block);
    hash = hash_tracked(hash, &story->result);
    hash = hash_tracked(hash, &story->error);
    hash = hash_mix(hash, story->blocks | (uint64_t)story->stored.state << 8 |
                              (uint64_t)story->stored_effect << 16 | (uint64_t)story->after << 24);
    if (story->stored.state != TRACKED_NOTHING)
        hash = hash_tracked(hash, &story->stored);
    for (unsigned i = 0; i < story->known_count; i++)
        hash = hash_known(hash, &story->known[i]);
    for (unsigned i = 0; i < story->pending_count; i++)
        hash = hash_known(hash_mix(hash, 'p'), &story->pending[i].known);
    for (unsigned i = 0; i < story->effect_count; i++) {
        hash = hash_mix(hash, (uint64_t)story->effects[i].where << 8 | story->effects[i].kind);
        hash = hash_mix(hash, (uint64_t)story->effects[i].value);
    }
    return hash;
}

// Whether it is the first to come here in this state.
struct error *search_is_new(struct search *search, const struct story *story, bool *ret_new)
{
    return map_add(&search->seen, hash_story(story), ret_new);
}

// ---- the end of a story ----

// What stands in a table, read as the loader maps it; only constants stay what they are.
static struct value look_up(const struct search *search, struct value index,
                            const struct operation *table)
{
    const struct elf_object *object = search->image->object;
    uint64_t address = search->image->base + (uint64_t)(int64_t)table->value;
    size_t size;
    if (index.kind != VALUE_CONSTANT)
        return (struct value){.kind = VALUE_OTHER};
    address += (uint64_t)index.number;
    const unsigned char *bytes = elf_object_constant(object, address, &size);
    uint64_t number = 0;
    if (bytes == NULL || size < table->width || table->width > sizeof number)
        return (struct value){.kind = VALUE_OTHER};
    memcpy(&number, bytes, table->width);
    return value_apply(value_constant((int64_t)number),
                       (struct operation){.kind = table->kind == OPERATION_TABLE ? OPERATION_CUT
                                                                                 : OPERATION_EXTEND,
                                          .width = table->width});
}

static struct value call_errors(const struct search *search, struct value number)
{
    if (number.kind == VALUE_ARGUMENT && !number.negative)
        return (struct value){.kind = VALUE_CALL, .negative = true, .number = number.number};
    const struct error_set *errors =
        number.kind == VALUE_CONSTANT
            ? search->world->system_call(search->world->data, number.number)
            : NULL;
    struct value value = {.kind = VALUE_ERRORS, .negative = true};
    struct error *error =
        errors == NULL ? NULL : error_sets_put(search->world->sets, errors, &value.set);
    if (errors == NULL || error != NULL) { // short of memory: nothing is known
        error_free(error);
        value = (struct value){.kind = VALUE_OTHER};
    }
    return value;
}

static struct value resolve(const struct search *search, const struct tracked *tracked,
                            struct value value)
{
    for (unsigned i = tracked->operation_count; i-- > 0;) {
        const struct operation *operation = &tracked->operations[i];
        bool table =
            operation->kind == OPERATION_TABLE || operation->kind == OPERATION_SIGNED_TABLE;
        value = table                                      ? look_up(search, value, operation)
                : operation->kind == OPERATION_SYSTEM_CALL ? call_errors(search, value)
                                                           : value_apply(value, *operation);
    }
    return value;
}

static bool mentions(const struct way *way, uint8_t argument)
{
    bool found =
        (way->result.kind == VALUE_ARGUMENT && way->result.number == argument) ||
        (way->sets_error && way->error.kind == VALUE_ARGUMENT && way->error.number == argument);
    for (unsigned i = 0; i < way->effect_count; i++)
        found |= way->effects[i].source == argument + 1;
    return found;
}

// Whether an argument is wrong, so that what is known of one is why.
static bool complains(const struct way *way)
{
    return way->sets_error && way->error.kind == VALUE_CONSTANT && way->error.number == EINVAL;
}

// What has to be true of an argument at the function's beginning.
static void add_condition(const struct story *story, struct way *way)
{
    for (unsigned i = 0; i < story->known_count; i++) {
        int argument = story->at_entry ? place_argument(story->known[i].place) : -1;
        if (argument < 0 || way->conditional ||
            (!story->narrowed && !complains(way) && !mentions(way, (uint8_t)argument)))
            continue;
        way->conditional = true;
        way->argument = (uint8_t)argument;
        way->when = story->known[i].bounds;
    }
}

// Whether an argument has to be NULL.
static uint8_t refuses_null(const struct story *story)
{
    for (unsigned i = 0; i < story->known_count; i++) {
        const struct bounds *bounds = &story->known[i].bounds;
        if (place_argument(story->known[i].place) >= 0 && !bounds->outside && bounds->wide &&
            bounds->low == 0 && bounds->high == 0)
            return WAY_AFTER_NULL;
    }
    return 0;
}

struct error *search_tell(struct search *search, const struct story *story)
{
    struct way way = {.evidence = story->evidence};
    if (story->result.state == TRACKED_VALUE)
        way.result = story->result.value;
    bool tells = way.result.kind != VALUE_OTHER && way.result.kind != VALUE_WORKED;
    if (tells || search->setter) {
        way.sets_error = story->error.state != TRACKED_NOTHING;
        if (story->error.state == TRACKED_VALUE)
            way.error = story->error.value;
        way.effect_count = story->effect_count;
        memcpy(way.effects, story->effects, story->effect_count * sizeof *way.effects);
        way.after = story->after;
        if (!story_came_after(story) && story->at_entry)
            way.after |= refuses_null(story);
        add_condition(story, &way);
    } else {
        way.evidence = 0;
    }
    return summary_add(search->summary, &way);
}

void tracked_set(const struct search *search, struct tracked *tracked, struct value value)
{
    tracked->value = resolve(search, tracked, value);
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

void tracked_set_other(struct tracked *tracked)
{
    tracked->value = (struct value){.kind = VALUE_OTHER};
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

bool tracked_in(const struct tracked *tracked, struct place place)
{
    return tracked->state == TRACKED_PLACE && place_equal(tracked->place, place);
}

struct effect *story_add_effect(struct story *story, const struct effect *effect)
{
    if (story->effect_count == OUTCOME_EFFECTS)
        return NULL;
    for (unsigned i = 0; i < story->effect_count; i++) {
        const struct effect *later = &story->effects[i];
        if (later->kind == effect->kind && later->where == effect->where &&
            later->argument == effect->argument)
            return NULL;
    }
    story->effects[story->effect_count] = *effect;
    return &story->effects[story->effect_count++];
}

void story_follow_stored(struct story *story, const struct effect *effect, uint8_t reg)
{
    if (story->stored.state != TRACKED_NOTHING || reg >= ISA_REGISTERS ||
        story_add_effect(story, effect) == NULL)
        return;
    story->stored = (struct tracked){.state = TRACKED_PLACE, .place = place_register(reg)};
    story->stored_effect = (uint8_t)(story->effect_count - 1);
}

void story_settle_stored(struct story *story)
{
    if (story->stored.state != TRACKED_VALUE)
        return;
    struct value value = story->stored.value;
    struct effect *effect = &story->effects[story->stored_effect];
    story->stored.state = TRACKED_NOTHING;
    if (value.kind == VALUE_CONSTANT) {
        effect->value = value.number;
    } else if (value.kind == VALUE_ARGUMENT && !value.negative) {
        effect->source = (uint8_t)(value.number + 1);
    } else {
        for (unsigned i = story->stored_effect; i + 1u < story->effect_count; i++)
            story->effects[i] = story->effects[i + 1];
        story->effect_count--;
    }
}

struct value value_constant(int64_t number)
{
    return (struct value){.kind = VALUE_CONSTANT, .number = number};
}

void story_note_result(struct search *search, struct story *story, uint32_t at)
{
    if (story->result.state != TRACKED_VALUE || story->result_block != FLOW_NONE)
        return;
    story->result_block = story->block;
    story->evidence = flow_address(search->image, &search->image->facts.items[at]);
}

void story_forget(struct story *story, unsigned index)
{
    story->known[index] = story->known[--story->known_count];
}

void story_simplify(struct story *story)
{
    story->known_count = 0;
    story->effect_count = 0;
    story->stored.state = TRACKED_NOTHING;
}

void story_add_known(struct story *story, const struct known *known)
{
    if (story->known_count == KNOWN) // the oldest is the least likely to matter still
        story_forget(story, 0);
    story->known[story->known_count++] = *known;
}
