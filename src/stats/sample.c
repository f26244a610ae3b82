// SPDX-License-Identifier: GPL-3.0-or-later
// Samples without replacement, in memory that does not depend on the size of the population.
#include "base/cleanup.h"
#include "base/map.h"
#include "stats/stats.h"

#include <math.h>

static int ascending(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static struct error *take_all(uint64_t n, uint64_t **ret_indices, uint64_t *ret_count)
{
    uint64_t *indices =
        n <= SIZE_MAX / sizeof *indices ? calloc(n > 0 ? n : 1, sizeof *indices) : NULL;
    if (indices == NULL)
        return error_no_memory();
    for (uint64_t i = 0; i < n; i++)
        indices[i] = i;
    *ret_indices = indices;
    *ret_count = n;
    return NULL;
}

// Floyd's algorithm: every subset is equally likely, and one random number is drawn per item.
struct error *stats_sample(struct stats_random *random, uint64_t n, uint64_t chosen,
                           uint64_t **ret_indices, uint64_t *ret_count)
{
    if (chosen >= n)
        return take_all(n, ret_indices, ret_count);
    _cleanup_(map_deinit) struct map taken = {0};
    _cleanup_free_ uint64_t *indices = calloc(chosen > 0 ? chosen : 1, sizeof *indices);
    if (indices == NULL)
        return error_no_memory();
    TRY(map_reserve(&taken, chosen));
    uint64_t count = 0;
    for (uint64_t last = n - chosen; last < n; last++) {
        uint64_t drawn = stats_random_below(random, last + 1);
        bool new;
        TRY(map_add(&taken, drawn, &new));
        if (!new) {
            drawn = last;
            TRY(map_add(&taken, drawn, NULL));
        }
        indices[count++] = drawn;
    }
    qsort(indices, count, sizeof *indices, ascending);
    *ret_indices = TAKE(indices);
    *ret_count = count;
    return NULL;
}

// Each item waits an exponentially distributed time whose rate is its weight. The first items to
// arrive are distributed as if drawn one after the other by weight (Efraimidis and Spirakis, 2006).
struct weighted_item {
    double time;
    uint64_t index;
};

static bool later(const struct weighted_item *a, const struct weighted_item *b)
{
    return a->time != b->time ? a->time > b->time : a->index > b->index;
}

// The top of the heap is the latest item of those kept.
static void sift_down(struct weighted_item *heap, uint64_t count, uint64_t at)
{
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && later(&heap[child + 1], &heap[child]))
            child++;
        if (!later(&heap[child], &heap[at]))
            return;
        struct weighted_item moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void sift_up(struct weighted_item *heap, uint64_t at)
{
    for (uint64_t parent; at > 0 && later(&heap[at], &heap[parent = (at - 1) / 2]); at = parent) {
        struct weighted_item moved = heap[at];
        heap[at] = heap[parent];
        heap[parent] = moved;
    }
}

struct error *stats_sample_weighted(struct stats_random *random, const double *weights, uint64_t n,
                                    uint64_t chosen, uint64_t **ret_indices, uint64_t *ret_count)
{
    if (chosen > n)
        chosen = n;
    _cleanup_free_ struct weighted_item *heap = calloc(chosen > 0 ? chosen : 1, sizeof *heap);
    _cleanup_free_ uint64_t *indices = calloc(chosen > 0 ? chosen : 1, sizeof *indices);
    if (heap == NULL || indices == NULL)
        return error_no_memory();
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return error_new("weight number %lu is not a number that can be used: %g", i + 1,
                             weights[i]);
        if (weights[i] == 0 || chosen == 0)
            continue;
        struct weighted_item one = {-log(1 - stats_random_unit(random)) / weights[i], i};
        if (count < chosen) {
            heap[count] = one;
            sift_up(heap, count++);
        } else if (later(&heap[0], &one)) {
            heap[0] = one;
            sift_down(heap, count, 0);
        }
    }
    for (uint64_t i = 0; i < count; i++)
        indices[i] = heap[i].index;
    qsort(indices, count, sizeof *indices, ascending);
    *ret_indices = TAKE(indices);
    *ret_count = count;
    return NULL;
}
