// SPDX-License-Identifier: GPL-3.0-or-later
// Filters the events of a trace and names what they are about.
#include "interface/items.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

struct items {
    struct stream *stream;
    struct reach reach;
    struct world world;
    bool keeps_pointers;
    struct map pointer_at; // address: index in `pointers`
    ARRAY(struct pointer) pointers;
};

struct error *items_open(const struct trace_source *source, uint32_t program,
                         struct items **ret_items)
{
    struct items *items = calloc(1, sizeof *items);
    if (items == NULL)
        return error_no_memory();
    struct error *error = reach_find(source, program, &items->reach);
    if (error == NULL)
        error = stream_open(source, program, &items->stream);
    if (error == NULL)
        *ret_items = items;
    else
        items_close(items);
    return error;
}

void items_close(struct items *items)
{
    if (items == NULL)
        return;
    stream_close(items->stream);
    reach_deinit(&items->reach);
    world_deinit(&items->world);
    map_deinit(&items->pointer_at);
    ARRAY_DEINIT(&items->pointers);
    free(items);
}

void items_keep_pointers(struct items *items)
{
    items->keeps_pointers = true;
}

const struct pointer *items_pointers(const struct items *items, size_t *ret_count)
{
    *ret_count = items->pointers.count;
    return items->pointers.items;
}

static struct error *note_pointer(struct items *items, uint64_t address, uint64_t value)
{
    uint32_t index = map_find(&items->pointer_at, address);
    if (index != MAP_NONE) {
        items->pointers.items[index].value = value;
        return NULL;
    }
    if (world_meaning(&items->world, value).kind == MEANING_NONE)
        return NULL;
    struct pointer *pointer = ARRAY_ADD(&items->pointers);
    if (pointer == NULL)
        return error_no_memory();
    *pointer = (struct pointer){address, value};
    return map_put(&items->pointer_at, address, (uint32_t)(items->pointers.count - 1));
}

static struct error *note_pointers(struct items *items, const struct event *event)
{
    if (event->kind == INTERFACE_POINTER)
        return note_pointer(items, event->numbers[0], event->numbers[1]);
    uint64_t address = event->numbers[1], size = event->numbers[2];
    for (uint64_t at = -address & 7; event->kind == INTERFACE_STORE && at + 8 <= size; at += 8) {
        uint64_t value;
        memcpy(&value, event->texts[0] + at, sizeof value);
        TRY(note_pointer(items, address + at, value));
    }
    return NULL;
}

const struct world *items_world(const struct items *items)
{
    return &items->world;
}

const struct reach *items_reach(const struct items *items)
{
    return &items->reach;
}

static bool is_visible(const struct items *items, struct meaning target)
{
    if (target.kind != MEANING_AREA)
        return target.kind == MEANING_STACK;
    const struct area *area = &items->world.areas.items[target.area];
    if (area->owner == OWNER_LIBRARY)
        return target.area < items->reach.count && items->reach.reachable[target.area];
    return area->owner == OWNER_PROGRAM;
}

// Of stored bytes. Words that are addresses are named.
static uint64_t value_hash(struct world *world, uint64_t address, const char *bytes, uint64_t size)
{
    uint64_t hash = size, at = 0;
    while (at < size) {
        uint64_t word = 0;
        uint64_t part = (address + at) % 8 != 0 ? 8 - (address + at) % 8 : 8;
        part = part < size - at ? part : size - at;
        memcpy(&word, bytes + at, part);
        struct meaning meaning = {.kind = MEANING_NONE};
        if (part == 8)
            meaning = world_meaning(world, word);
        hash = hash_mix(hash,
                        meaning.kind == MEANING_NONE ? word : world_meaning_hash(world, meaning));
        at += part;
    }
    return hash;
}

static bool make_store(struct items *items, const struct event *event, struct item *item)
{
    struct world *world = &items->world;
    uint64_t address = event->numbers[1], size = event->numbers[2];
    const struct frame *frame = world_frame(world);
    struct meaning target = world_meaning(world, address);
    if (frame == NULL || !is_visible(items, target))
        return false;
    uint64_t code = world_place(world, event->numbers[0])->identity;
    struct meaning whole = {.kind = target.kind, .area = target.area};
    *item = (struct item){.kind = ITEM_STORE,
                          .call = frame->call,
                          .code = event->numbers[0],
                          .target = target,
                          .function = MAP_NONE,
                          .size = (uint32_t)size};
    memcpy(&item->value, event->texts[0], size < 8 ? size : 8);
    if (size >= 8)
        item->pointee = world_meaning(world, item->value);
    item->area = hash_mix(code, world_meaning_hash(world, whole));
    item->place = hash_mix(hash_mix(code, world_meaning_hash(world, target)), size);
    item->identity = hash_mix(item->place, value_hash(world, address, event->texts[0], size));
    return true;
}

static bool make_free(struct items *items, const struct event *event, struct item *item)
{
    const struct frame *frame = world_frame(&items->world);
    struct meaning target = world_meaning(&items->world, event->numbers[0]);
    if (frame == NULL || frame->callback || target.kind != MEANING_AREA ||
        items->world.areas.items[target.area].owner != OWNER_PROGRAM)
        return false;
    *item = (struct item){
        .kind = ITEM_FREE, .call = frame->call, .target = target, .function = MAP_NONE};
    item->identity = hash_mix(world_meaning_hash(&items->world, target), ITEM_FREE);
    return true;
}

static void make_enter(struct items *items, const struct event *event, struct item *item)
{
    const struct world *world = &items->world;
    const struct world_thread *thread = &world->threads[world->thread];
    const struct frame *frame = world_frame(world);
    *item =
        (struct item){.kind = ITEM_ENTER, .code = event->numbers[0], .function = frame->function};
    for (size_t i = 0; i + 1 < thread->frames.count; i++)
        if (!thread->frames.items[i].callback)
            item->call = thread->frames.items[i].call;
    const char *name =
        frame->function == MAP_NONE ? "" : world->functions.items[frame->function].name;
    item->identity = hash_mix(hash_text(name), ITEM_ENTER + 1);
}

static bool make_return(struct items *items, const struct event *event, struct item *item)
{
    struct world *world = &items->world;
    const struct frame *frame = world_frame(world);
    if (frame == NULL || frame->callback)
        return false;
    *item = (struct item){
        .kind = event->kind == INTERFACE_RETURN ? ITEM_RETURN : ITEM_ABANDON,
        .call = frame->call,
        .function = frame->function,
    };
    item->identity = hash_mix(1, item->kind);
    struct function function = {.result = INTERFACE_RESULT_UNKNOWN, .bytes = 8};
    if (frame->function != MAP_NONE)
        function = world->functions.items[frame->function];
    if (item->kind == ITEM_ABANDON || function.result == INTERFACE_RESULT_NONE || frame->by_loader)
        return true;
    bool is_vector = function.result == INTERFACE_RESULT_VECTOR;
    memcpy(&item->value, &event->numbers[is_vector], function.bytes);
    item->size = function.bytes;
    item->identity = hash_mix(item->identity, item->value);
    if (is_vector || function.bytes < 8)
        return true;
    item->pointee = world_meaning(world, item->value);
    if (item->pointee.kind != MEANING_NONE)
        item->identity =
            hash_mix(hash_mix(1, item->kind), world_meaning_hash(world, item->pointee));
    return true;
}

static struct error *make(struct items *items, const struct event *event, struct item *item,
                          bool *ret_made)
{
    struct world *world = &items->world;
    *ret_made = false;
    if (items->keeps_pointers)
        TRY(note_pointers(items, event));
    if (event->kind == INTERFACE_STORE) {
        *ret_made = make_store(items, event, item);
        return NULL;
    }
    if (event->kind == INTERFACE_FREE)
        *ret_made = make_free(items, event, item);
    TRY(world_update(world, event));
    if (event->kind == INTERFACE_ENTER) {
        make_enter(items, event, item);
        *ret_made = true;
    } else if (event->kind == INTERFACE_RETURN || event->kind == INTERFACE_ABANDON) {
        *ret_made = make_return(items, event, item);
        world_leave(world);
    } else if (event->kind == INTERFACE_RESUME) {
        world_leave(world);
    }
    return NULL;
}

struct error *items_next(struct items *items, struct item *ret_item, bool *ret_more)
{
    struct event event;
    bool made = false;
    do {
        TRY(stream_next(items->stream, &event, ret_more));
        if (*ret_more)
            TRY(make(items, &event, ret_item, &made));
    } while (*ret_more && !made);
    return NULL;
}
