// SPDX-License-Identifier: GPL-3.0-or-later
// Three passes: how often each byte is stored to; the places of the bytes with the highest numbers,
// with a call for each; the paths that lead there when these calls end. Passes number areas and
// calls alike.
#include "interface/accessed.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "interface/accesses.h"
#include "interface/path.h"

#include <string.h>

#define BYTES_OF_A_PLACE 64 // at most, which limits how many places are looked at

struct place_accessed {
    uint64_t key;    // of area, offset and size, the same in every run
    uint64_t stores; // to its first byte
    uint64_t call;   // that was drawn: the one with the lowest `draw`
    uint64_t draw;
    struct item last; // store of that call there
};
struct search {
    struct accesses accesses;
    uint64_t least; // stores to a byte that is looked at
    struct map by_key;
    ARRAY(struct place_accessed) places;
    struct map by_call; // index of the first place of a call
};

static void search_deinit(struct search *search)
{
    accesses_deinit(&search->accesses);
    map_deinit(&search->by_key);
    ARRAY_DEINIT(&search->places);
    map_deinit(&search->by_call);
}

// ---- bytes ----

static int by_stores(const void *a, const void *b)
{
    const struct accessed_range *x = a, *y = b;
    return (x->stores < y->stores) - (x->stores > y->stores);
}

// The bytes with the highest numbers, as many as `most` places can have.
static struct error *find_least(struct search *search, size_t most)
{
    size_t count = search->accesses.ranges.count;
    uint64_t bytes = 0;
    _cleanup_free_ struct accessed_range *ranges = calloc(count + 1, sizeof *ranges);
    if (ranges == NULL)
        return error_no_memory();
    if (count != 0) {
        memcpy(ranges, search->accesses.ranges.items, count * sizeof *ranges);
        qsort(ranges, count, sizeof *ranges, by_stores);
    }
    for (size_t i = 0; i < count && bytes / BYTES_OF_A_PLACE < most; i++) {
        bytes += (uint64_t)(ranges[i].end - ranges[i].start);
        search->least = ranges[i].stores;
    }
    return NULL;
}

static uint64_t stores_to(const struct accesses *accesses, uint64_t area, int64_t offset)
{
    size_t low = 0, high = accesses->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct accessed_range *range = &accesses->ranges.items[middle];
        if (range->area < area || (range->area == area && range->end <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    const struct accessed_range *range = &accesses->ranges.items[low];
    bool found = low < accesses->ranges.count && range->area == area && range->start <= offset;
    return found ? range->stores : 0;
}

// ---- places ----

// Only what its caller has called can be made to return with an error.
static bool is_injectable(const struct frame *frame)
{
    return frame != NULL && !frame->callback && !frame->by_loader && frame->function != MAP_NONE;
}

static struct error *add_store(struct search *search, const struct world *world,
                               const struct item *item)
{
    struct meaning whole = {.kind = item->target.kind, .area = item->target.area};
    uint64_t area = world_meaning_hash(world, whole);
    uint64_t stores = stores_to(&search->accesses, area, item->target.offset);
    if (stores == 0 || stores < search->least || !is_injectable(world_frame(world)))
        return NULL;
    uint64_t key = hash_mix(world_meaning_hash(world, item->target), item->size);
    uint32_t index = map_find(&search->by_key, key);
    uint64_t draw = hash_mix(key, item->call);
    if (index == MAP_NONE) {
        index = (uint32_t)search->places.count;
        struct place_accessed *added = ARRAY_ADD(&search->places);
        if (added == NULL)
            return error_no_memory();
        *added = (struct place_accessed){.key = key, .stores = stores, .draw = UINT64_MAX};
        TRY(map_put(&search->by_key, key, index));
    }
    struct place_accessed *place = &search->places.items[index];
    if (draw <= place->draw) {
        place->draw = draw;
        place->call = item->call;
        place->last = *item;
    }
    return NULL;
}

static int by_rank(const void *a, const void *b)
{
    const struct place_accessed *x = a, *y = b;
    if (x->stores != y->stores)
        return x->stores > y->stores ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_call(const void *a, const void *b)
{
    const struct place_accessed *x = a, *y = b;
    return x->call != y->call ? (x->call > y->call) - (x->call < y->call) : by_rank(a, b);
}

static struct error *choose(struct search *search, size_t most)
{
    size_t count = search->places.count;
    if (count == 0)
        return NULL;
    qsort(search->places.items, count, sizeof *search->places.items, by_rank);
    count = count < most ? count : most;
    search->places.count = count;
    search->least = count == 0 ? 0 : search->places.items[count - 1].stores;
    if (count != 0)
        qsort(search->places.items, count, sizeof *search->places.items, by_call);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || search->places.items[i].call != search->places.items[i - 1].call)
            TRY(map_put(&search->by_call, search->places.items[i].call, (uint32_t)i));
    return NULL;
}

// ---- paths ----

static enum value_class class_of(const struct item *item)
{
    return item->pointee.kind != MEANING_NONE ? CLASS_POINTER_SAME
           : item->value == 0                 ? CLASS_ZERO
                                              : CLASS_OTHER;
}

static struct error *write_place(const struct place_accessed *place, const struct paths *paths,
                                 const struct world *world, struct buffer *text, bool *ret_written)
{
    _cleanup_(buffer_deinit) struct buffer area = {0};
    _cleanup_(corruption_deinit) struct corruption corruption = {0};
    struct corruption_path path = paths_of(paths, world, place->last.target);
    *ret_written = false;
    if (path.root == CORRUPTION_NOWHERE)
        return NULL;
    TRY(world_describe(world, place->last.target, &area));
    struct corruption_memory *memory = ARRAY_ADD(&corruption.memory);
    if (memory == NULL)
        return error_no_memory();
    *memory = (struct corruption_memory){.change = CHANGE_OMITTED_STORE,
                                         .path = path,
                                         .size = place->last.size,
                                         .old = place->last.value,
                                         .old_class = class_of(&place->last),
                                         .new_class = CLASS_ZERO,
                                         .area = TAKE(area.data)};
    corruption.function = strdup(world->functions.items[world->left.function].name);
    corruption.number = world->left.ordinal;
    if (corruption.function == NULL)
        return error_no_memory();
    *ret_written = true;
    return corruption_write(&corruption, text);
}

static struct error *end_call(const struct search *search, const struct items *items,
                              const struct item *item, struct buffer *text, uint64_t *reached)
{
    const struct world *world = items_world(items);
    uint32_t index = map_find(&search->by_call, item->call);
    if (index == MAP_NONE || world->left.call != item->call)
        return NULL;
    const struct ended_call call = {.items = items,
                                    .frame = &world->left,
                                    .stack = world->left_stack,
                                    .has_result = item->size == 8,
                                    .result = item->value};
    struct paths *paths;
    struct error *error = NULL;
    TRY(paths_find(&call, &paths));
    for (; error == NULL && index < search->places.count &&
           search->places.items[index].call == item->call;
         index++) {
        bool written;
        error = write_place(&search->places.items[index], paths, world, text, &written);
        *reached += error == NULL && written;
    }
    paths_free(paths);
    return error;
}

// ---- passes ----

static struct error *look_for_places(struct search *search, const struct trace_source *source,
                                     uint32_t program)
{
    struct items *items;
    struct item item;
    bool more = true;
    TRY(items_open(source, program, &items));
    struct error *error = NULL;
    while (error == NULL && more) {
        error = items_next(items, &item, &more);
        if (error == NULL && more && item.kind == ITEM_STORE)
            error = add_store(search, items_world(items), &item);
    }
    items_close(items);
    return error;
}

static struct error *write_places(const struct search *search, const struct trace_source *source,
                                  uint32_t program, struct buffer *text, uint64_t *reached)
{
    struct items *items;
    struct item item;
    bool more = true;
    TRY(items_open(source, program, &items));
    items_keep_pointers(items);
    struct error *error = NULL;
    while (error == NULL && more) {
        error = items_next(items, &item, &more);
        if (error == NULL && more && item.kind == ITEM_RETURN)
            error = end_call(search, items, &item, text, reached);
    }
    items_close(items);
    return error;
}

struct error *accessed_write(const struct trace_source *source, uint32_t program, size_t most,
                             struct buffer *text, struct accessed_count *ret_count)
{
    _cleanup_(search_deinit) struct search search = {0};
    struct accessed_count count = {0};
    TRY(accesses_count(source, program, &search.accesses));
    TRY(find_least(&search, most));
    TRY(look_for_places(&search, source, program));
    TRY(choose(&search, most));
    TRY(write_places(&search, source, program, text, &count.reached));
    count.places = search.places.count;
    count.least = search.least;
    *ret_count = count;
    return NULL;
}
