// SPDX-License-Identifier: GPL-3.0-or-later
// Stores are collected and, from time to time, merged into ranges of bytes with the same number.
#include "interface/accesses.h"

#include "base/cleanup.h"
#include "interface/items.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MERGED_AFTER (UINT32_C(1) << 20) // stores
// A trace and a store are foreign: their numbers may be any. Sums of these do not overflow.
#define FARTHEST    (INT64_C(1) << 61)  // bytes from the start of an area
#define MOST_STORES (UINT64_C(1) << 61) // to a byte

struct end_point {
    uint64_t area;
    int64_t at;
    int64_t change; // of the number of stores from here on
};

void accesses_deinit(struct accesses *accesses)
{
    ARRAY_DEINIT(&accesses->ranges);
}

static int by_place(const void *a, const void *b)
{
    const struct end_point *x = a, *y = b;
    if (x->area != y->area)
        return x->area < y->area ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct error *add_range(struct accesses *accesses, const struct accessed_range *range)
{
    struct accessed_range *last =
        accesses->ranges.count == 0 ? NULL : &accesses->ranges.items[accesses->ranges.count - 1];
    if (last != NULL && last->area == range->area && last->end == range->start &&
        last->stores == range->stores) {
        last->end = range->end;
        return NULL;
    }
    struct accessed_range *added = ARRAY_ADD(&accesses->ranges);
    if (added == NULL)
        return error_no_memory();
    *added = *range;
    return NULL;
}

// Ranges that overlap become ranges that do not.
static struct error *merge(struct accesses *accesses)
{
    size_t count = accesses->ranges.count;
    _cleanup_free_ struct end_point *points = calloc(2 * count + 1, sizeof *points);
    if (points == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct accessed_range *range = &accesses->ranges.items[i];
        points[2 * i] = (struct end_point){range->area, range->start, (int64_t)range->stores};
        points[2 * i + 1] = (struct end_point){range->area, range->end, -(int64_t)range->stores};
    }
    qsort(points, 2 * count, sizeof *points, by_place);
    accesses->ranges.count = 0;
    uint64_t stores = 0;
    for (size_t i = 0; i + 1 < 2 * count; i++) {
        stores += (uint64_t)points[i].change;
        const struct accessed_range range = {.area = points[i].area,
                                             .start = points[i].at,
                                             .end = points[i + 1].at,
                                             .stores = stores};
        if (stores != 0 && points[i + 1].area == range.area && range.end > range.start)
            TRY(add_range(accesses, &range));
    }
    return NULL;
}

static struct error *add_store(struct accesses *accesses, const struct world *world,
                               const struct item *item, size_t *merged)
{
    struct meaning area = {.kind = item->target.kind, .area = item->target.area};
    if (item->target.offset < -FARTHEST || item->target.offset > FARTHEST)
        return NULL; // no area is so large
    struct accessed_range *added = ARRAY_ADD(&accesses->ranges);
    if (added == NULL)
        return error_no_memory();
    *added = (struct accessed_range){.area = world_meaning_hash(world, area),
                                     .start = item->target.offset,
                                     .end = item->target.offset + item->size,
                                     .stores = 1};
    if (accesses->ranges.count < 2 * *merged + MERGED_AFTER)
        return NULL;
    TRY(merge(accesses));
    *merged = accesses->ranges.count;
    return NULL;
}

struct error *accesses_count(const struct trace_source *source, uint32_t program,
                             struct accesses *ret_accesses)
{
    struct accesses accesses = {0};
    struct items *items;
    struct item item;
    size_t merged = 0;
    bool more = true;
    TRY(items_open(source, program, &items));
    struct error *error = NULL;
    while (error == NULL && more) {
        error = items_next(items, &item, &more);
        if (error == NULL && more && item.kind == ITEM_STORE)
            error = add_store(&accesses, items_world(items), &item, &merged);
    }
    items_close(items);
    if (error == NULL)
        error = merge(&accesses);
    if (error == NULL)
        *ret_accesses = accesses;
    else
        accesses_deinit(&accesses);
    return error;
}

struct error *accesses_write(const struct accesses *accesses, struct buffer *text)
{
    for (size_t i = 0; i < accesses->ranges.count; i++) {
        const struct accessed_range *range = &accesses->ranges.items[i];
        TRY(buffer_printf(text, "%" PRIx64 " %" PRId64 " %" PRId64 " %" PRIu64 "\n", range->area,
                          range->start, range->end, range->stores));
    }
    return NULL;
}

struct error *accesses_read(const char *text, size_t size, struct accesses *ret_accesses)
{
    struct accesses accesses = {0};
    struct error *error = NULL;
    for (size_t at = 0; error == NULL && at < size;) {
        char line[128];
        struct accessed_range range;
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line),
                 text + at);
        at += length + 1;
        const struct accessed_range *last =
            accesses.ranges.count == 0 ? NULL : &accesses.ranges.items[accesses.ranges.count - 1];
        if (sscanf(line, "%" SCNx64 " %" SCNd64 " %" SCNd64 " %" SCNu64, &range.area, &range.start,
                   &range.end, &range.stores) != 4 ||
            range.end <= range.start || range.start < -FARTHEST ||
            range.end > FARTHEST + INTERFACE_STORE_LIMIT || range.stores == 0 ||
            range.stores > MOST_STORES ||
            (last != NULL &&
             (last->area > range.area || (last->area == range.area && last->end > range.start))))
            error = error_new("the numbers of accesses are damaged");
        else
            error = add_range(&accesses, &range);
    }
    if (error == NULL)
        *ret_accesses = accesses;
    else
        accesses_deinit(&accesses);
    return error;
}
