// SPDX-License-Identifier: GPL-3.0-or-later
// Both traces are read side by side up to the first difference, so that what is equal costs no
// memory. Of the call with that difference, the rest is collected and aligned.
#include "interface/compare.h"

#include "base/cleanup.h"
#include "interface/sequence.h"

#include <string.h>

#define MOST_ITEMS (UINT32_C(2) << 20) // of one call that are aligned
#define EFFORT     (UINT64_C(2) << 30) // steps of the alignment

struct row {
    ARRAY(struct item) items;
    bool ended, left, cut;
};

void interface_comparison_deinit(struct interface_comparison *comparison)
{
    ARRAY_DEINIT(&comparison->differences);
    ARRAY_DEINIT(&comparison->ranges);
    items_close(comparison->good);
    items_close(comparison->bad);
    free(comparison->function);
    *comparison = (struct interface_comparison){0};
}

static struct error *collect(struct items *items, struct item *item, bool more, uint64_t call,
                             struct row *row)
{
    while (more) {
        if (item->call == call) {
            if (item->kind == ITEM_RETURN || item->kind == ITEM_ABANDON) {
                row->ended = true;
                row->left = item->kind == ITEM_ABANDON;
            }
            struct item *added = NULL;
            if (row->items.count < MOST_ITEMS + (size_t)row->ended) // its result is always kept
                TRY((added = ARRAY_ADD(&row->items)) == NULL ? error_no_memory() : NULL);
            else
                row->cut = true;
            if (added != NULL)
                *added = *item;
            if (row->ended)
                return NULL;
        }
        TRY(items_next(items, item, &more));
    }
    return NULL;
}

static struct error *align(const struct row *good, const struct row *bad, bool **ret_common_good,
                           bool **ret_common_bad, bool *ret_exact)
{
    size_t counts[2] = {good->items.count, bad->items.count};
    _cleanup_free_ uint64_t *words = calloc(counts[0] + counts[1] + 1, sizeof *words);
    bool *common_good = calloc(counts[0] + 1, sizeof *common_good);
    bool *common_bad = calloc(counts[1] + 1, sizeof *common_bad);
    struct error *error = NULL;
    if (words == NULL || common_good == NULL || common_bad == NULL) {
        error = error_no_memory();
    } else {
        for (size_t i = 0; i < counts[0]; i++)
            words[i] = good->items.items[i].identity;
        for (size_t i = 0; i < counts[1]; i++)
            words[counts[0] + i] = bad->items.items[i].identity;
        struct sequence a = {words, counts[0], common_good};
        struct sequence b = {words + counts[0], counts[1], common_bad};
        error = sequence_compare(&a, &b, EFFORT, ret_exact);
    }
    if (error != NULL) {
        free(common_good);
        free(common_bad);
        return error;
    }
    *ret_common_good = common_good;
    *ret_common_bad = common_bad;
    return NULL;
}

struct pairing {
    const struct row *good, *bad;
    bool *common_good, *common_bad; // or paired
    uint32_t *partner;              // of an item of `bad`: its item of `good` + 1, or 0
};

static uint64_t pair_key(const struct item *item, bool exact)
{
    return exact ? item->place : item->area;
}

// Pairs stores that are alone in both runs and have the same key, in their order.
static struct error *pair_stores(struct pairing *pairing, bool exact)
{
    size_t count = pairing->good->items.count;
    _cleanup_(map_deinit) struct map heads = {0};
    _cleanup_free_ uint32_t *next = calloc(count + 1, sizeof *next);
    _cleanup_free_ uint32_t *first = calloc(count + 1, sizeof *first);
    if (next == NULL || first == NULL)
        return error_no_memory();
    for (size_t i = count; i > 0;) {
        const struct item *item = &pairing->good->items.items[--i];
        if (pairing->common_good[i] || item->kind != ITEM_STORE)
            continue;
        uint32_t head = map_find(&heads, pair_key(item, exact));
        if (head == MAP_NONE) {
            head = (uint32_t)i;
            TRY(map_put(&heads, pair_key(item, exact), head));
        }
        next[i] = first[head];
        first[head] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < pairing->bad->items.count; i++) {
        const struct item *item = &pairing->bad->items.items[i];
        if (pairing->common_bad[i] || item->kind != ITEM_STORE)
            continue;
        uint32_t head = map_find(&heads, pair_key(item, exact));
        if (head == MAP_NONE || first[head] == 0)
            continue;
        uint32_t partner = first[head];
        first[head] = next[partner - 1];
        pairing->partner[i] = partner;
        pairing->common_bad[i] = pairing->common_good[partner - 1] = true;
    }
    return NULL;
}

static struct error *add(struct interface_comparison *comparison, enum interface_change change,
                         const struct item *good, const struct item *bad)
{
    struct interface_difference *difference = ARRAY_ADD(&comparison->differences);
    if (difference == NULL)
        return error_no_memory();
    difference->change = change;
    if (good != NULL)
        difference->good = *good;
    if (bad != NULL)
        difference->bad = *bad;
    const struct item *counted = bad != NULL ? bad : good;
    if (counted->kind == ITEM_STORE || counted->kind == ITEM_RETURN)
        comparison->bytes[change] += counted->size;
    return NULL;
}

static struct error *add_alone(struct interface_comparison *comparison, const struct item *item,
                               bool is_bad)
{
    const struct item *good = is_bad ? NULL : item, *bad = is_bad ? item : NULL;
    if (item->kind == ITEM_STORE)
        return add(comparison, is_bad ? CHANGE_SPURIOUS_STORE : CHANGE_OMITTED_STORE, good, bad);
    if (item->kind == ITEM_FREE)
        return add(comparison, is_bad ? CHANGE_SPURIOUS_FREE : CHANGE_OMITTED_FREE, good, bad);
    return NULL; // nested calls, and the end, which is looked at apart
}

static const struct item *result_of(const struct row *row)
{
    const struct item *last =
        row->items.count == 0 ? NULL : &row->items.items[row->items.count - 1];
    return last != NULL && last->kind == ITEM_RETURN ? last : NULL;
}

static struct error *list_differences(const struct pairing *pairing,
                                      struct interface_comparison *comparison)
{
    // The walk follows the run without fault; what only the other has stands where it happened.
    size_t i = 0;
    for (size_t j = 0; j < pairing->bad->items.count; j++) {
        const struct item *bad = &pairing->bad->items.items[j];
        uint32_t partner = pairing->partner[j];
        for (; partner != 0 && i < partner; i++)
            if (!pairing->common_good[i])
                TRY(add_alone(comparison, &pairing->good->items.items[i], false));
        if (partner != 0)
            TRY(add(comparison, CHANGE_WRONG_VALUE, &pairing->good->items.items[partner - 1], bad));
        else if (!pairing->common_bad[j])
            TRY(add_alone(comparison, bad, true));
    }
    for (; i < pairing->good->items.count; i++)
        if (!pairing->common_good[i])
            TRY(add_alone(comparison, &pairing->good->items.items[i], false));
    const struct item *good = result_of(pairing->good), *bad = result_of(pairing->bad);
    comparison->has_result = good != NULL && good->size == 8;
    comparison->result = comparison->has_result ? good->value : 0;
    if (good != NULL && bad != NULL && good->identity != bad->identity)
        TRY(add(comparison, CHANGE_WRONG_RESULT, good, bad));
    return NULL;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct interface_range *x = a, *y = b;
    if (x->area != y->area)
        return x->area < y->area ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int64_t end_of(const struct interface_range *range)
{
    int64_t end;
    return __builtin_add_overflow(range->start, (int64_t)range->size, &end) ? INT64_MAX : end;
}

// Of sorted ranges: adjacent and overlapping ones become one.
static struct error *merge_ranges(struct interface_comparison *comparison,
                                  const struct interface_range *ranges, size_t count)
{
    struct interface_range *last = NULL;
    for (size_t i = 0; i < count; i++) {
        int64_t end = end_of(&ranges[i]);
        if (last == NULL || last->area != ranges[i].area || ranges[i].start > end_of(last)) {
            last = ARRAY_ADD(&comparison->ranges);
            if (last == NULL)
                return error_no_memory();
            *last = (struct interface_range){.area = ranges[i].area, .start = ranges[i].start};
        }
        if (end > end_of(last)) {
            comparison->corrupted_bytes += (uint64_t)(end - end_of(last));
            last->size = (uint64_t)(end - last->start);
        }
    }
    return NULL;
}

static struct error *count_bytes(struct interface_comparison *comparison)
{
    size_t count = 0;
    _cleanup_free_ struct interface_range *ranges =
        calloc(comparison->differences.count + 1, sizeof *ranges);
    if (ranges == NULL)
        return error_no_memory();
    for (size_t i = 0; i < comparison->differences.count; i++) {
        const struct interface_difference *difference = &comparison->differences.items[i];
        bool is_bad = difference->change != CHANGE_OMITTED_STORE;
        const struct item *item = is_bad ? &difference->bad : &difference->good;
        const struct world *world = items_world(is_bad ? comparison->bad : comparison->good);
        if (item->kind != ITEM_STORE || difference->change > CHANGE_SPURIOUS_STORE)
            continue;
        struct meaning area = {.kind = item->target.kind, .area = item->target.area};
        ranges[count++] = (struct interface_range){.area = world_meaning_hash(world, area),
                                                   .start = item->target.offset,
                                                   .size = item->size};
    }
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    return merge_ranges(comparison, ranges, count);
}

static struct error *compare_rows(const struct row *good, const struct row *bad,
                                  struct interface_comparison *comparison)
{
    struct pairing pairing = {.good = good, .bad = bad};
    TRY(align(good, bad, &pairing.common_good, &pairing.common_bad, &comparison->exact));
    pairing.partner = calloc(bad->items.count + 1, sizeof *pairing.partner);
    struct error *error = pairing.partner == NULL ? error_no_memory() : NULL;
    for (int exact = 1; error == NULL && exact >= 0; exact--)
        error = pair_stores(&pairing, exact != 0);
    if (error == NULL)
        error = list_differences(&pairing, comparison);
    if (error == NULL)
        error = count_bytes(comparison);
    free(pairing.common_good);
    free(pairing.common_bad);
    free(pairing.partner);
    comparison->cut = good->cut || bad->cut;
    comparison->unfinished = !bad->ended && good->ended;
    comparison->left = bad->left && !good->left;
    return error;
}

// The function of an open call. Its frame may be anywhere in the thread's stack.
static const char *name_call(const struct world *world, uint64_t call, const struct item *item)
{
    uint32_t function =
        item->kind == ITEM_RETURN || item->kind == ITEM_ABANDON ? item->function : MAP_NONE;
    for (size_t t = 0; t < WORLD_THREADS; t++)
        for (size_t i = 0; i < world->threads[t].frames.count; i++) {
            const struct frame *frame = &world->threads[t].frames.items[i];
            if (!frame->callback && frame->call == call)
                function = frame->function;
        }
    return function == MAP_NONE ? "?" : world->functions.items[function].name;
}

// The call in the run without fault, whether it is open or has just ended.
static void keep_frame(struct interface_comparison *comparison)
{
    const struct world *world = items_world(comparison->good);
    if (world->left.call == comparison->call && !world->left.callback) {
        comparison->frame = world->left;
        memcpy(comparison->stack, world->left_stack, sizeof comparison->stack);
        return;
    }
    for (size_t t = 0; t < WORLD_THREADS; t++)
        for (size_t i = 0; i < world->threads[t].frames.count; i++) {
            const struct frame *frame = &world->threads[t].frames.items[i];
            if (frame->callback || frame->call != comparison->call)
                continue;
            comparison->frame = *frame;
            comparison->stack[0] = world->threads[t].frames.items[0].sp;
            comparison->stack[1] = world->threads[t].stack_end;
        }
}

static struct error *compare_call(struct interface_comparison *comparison, struct item items[2],
                                  const bool more[2])
{
    struct row good = {0}, bad = {0};
    uint64_t calls[2] = {more[0] ? items[0].call : 0, more[1] ? items[1].call : 0};
    // What one run has ended, the other is still in.
    uint64_t call = calls[0] > calls[1] ? calls[0] : calls[1];
    bool in_good = calls[0] == call;
    comparison->outcome = INTERFACE_DIFFERS;
    comparison->call = call;
    comparison->function = strdup(name_call(
        items_world(in_good ? comparison->good : comparison->bad), call, &items[in_good ? 0 : 1]));
    struct error *error = comparison->function == NULL ? error_no_memory() : NULL;
    if (error == NULL)
        error = collect(comparison->good, &items[0], more[0], call, &good);
    keep_frame(comparison);
    if (error == NULL)
        error = collect(comparison->bad, &items[1], more[1], call, &bad);
    if (error == NULL)
        error = compare_rows(&good, &bad, comparison);
    ARRAY_DEINIT(&good.items);
    ARRAY_DEINIT(&bad.items);
    return error;
}

static struct error *compare(struct interface_comparison *comparison)
{
    struct item items[2];
    bool more[2];
    do {
        TRY(items_next(comparison->good, &items[0], &more[0]));
        TRY(items_next(comparison->bad, &items[1], &more[1]));
    } while (more[0] && more[1] && items[0].identity == items[1].identity);
    if (!more[0] && !more[1])
        return NULL;
    if ((!more[0] || items[0].call == 0) && (!more[1] || items[1].call == 0)) {
        comparison->outcome = INTERFACE_DIVERGED;
        comparison->call = items_world(comparison->good)->calls - (more[0] ? 1 : 0);
        return NULL;
    }
    return compare_call(comparison, items, more);
}

struct error *interface_compare(const struct trace_source *good, uint32_t good_program,
                                const struct trace_source *bad, uint32_t bad_program,
                                struct interface_comparison *ret_comparison)
{
    struct interface_comparison comparison = {.outcome = INTERFACE_SAME, .exact = true};
    struct error *error = items_open(good, good_program, &comparison.good);
    if (error == NULL)
        items_keep_pointers(comparison.good);
    if (error == NULL)
        error = items_open(bad, bad_program, &comparison.bad);
    if (error == NULL)
        error = compare(&comparison);
    if (error == NULL)
        *ret_comparison = comparison;
    else
        interface_comparison_deinit(&comparison);
    return error;
}

static bool is_text(uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size && i < 8; i++) {
        unsigned char byte = (unsigned char)(value >> 8 * i);
        if (byte < ' ' || byte > '~')
            return false;
    }
    return size > 0;
}

enum value_class interface_value_class(const struct interface_comparison *comparison,
                                       const struct interface_difference *difference, bool bad)
{
    const struct item *item = bad ? &difference->bad : &difference->good;
    const struct item *other = bad ? &difference->good : &difference->bad;
    unsigned shift = item->size >= 8 || item->size == 0 ? 0 : 64 - 8 * item->size;
    int64_t number = (int64_t)(item->value << shift) >> shift;
    if (item->pointee.kind != MEANING_NONE) {
        struct meaning here = {.kind = item->pointee.kind, .area = item->pointee.area};
        struct meaning there = {.kind = other->pointee.kind, .area = other->pointee.area};
        const struct world *world = items_world(bad ? comparison->bad : comparison->good);
        const struct world *others = items_world(bad ? comparison->good : comparison->bad);
        return world_meaning_hash(world, here) == world_meaning_hash(others, there)
                   ? CLASS_POINTER_SAME
                   : CLASS_POINTER_OTHER;
    }
    if (number == 0)
        return other->pointee.kind != MEANING_NONE ? CLASS_NULL : CLASS_ZERO;
    if (number == -1)
        return CLASS_MINUS_ONE;
    if (number > -4096 && number < 4096)
        return CLASS_SMALL;
    return is_text(item->value, item->size) ? CLASS_TEXT : CLASS_OTHER;
}
