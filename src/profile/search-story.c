// SPDX-License-Identifier: GPL-3.0-or-later
// What a story knows, and which states were met before: stories that enter a block in the same
// state are told once, which bounds the work.
#include "profile/search-internal.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

struct error *search_push(struct search *search, const struct story *story)
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
struct error *search_is_new(struct search *search, const struct story *story, bool *ret_new)
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

struct error *search_tell(struct search *search, const struct story *story)
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

void tracked_set(struct tracked *tracked, struct value value)
{
    tracked->value = resolve(tracked, value);
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

void tracked_set_other(struct tracked *tracked)
{
    tracked_set(tracked, (struct value){.kind = VALUE_OTHER});
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

void story_add_known(struct story *story, const struct known *known)
{
    if (story->known_count == KNOWN) // the oldest is the least likely to matter still
        story_forget(story, 0);
    story->known[story->known_count++] = *known;
}
