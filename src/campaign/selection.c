// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the candidates to run. Candidates are sorted into groups by an array of indexes. Every
// group draws from its own random stream, so that its choice does not depend on the other groups.
#include "campaign/selection.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "definition/weights.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

// Lower streams are those of trials.
#define SELECTION_STREAM (1ull << 63)

static const struct {
    const char *name;
    size_t offset;
} groups[] = {
    {"type", offsetof(struct candidate, type)},
    {"function", offsetof(struct candidate, function)},
    {"module", offsetof(struct candidate, module)},
    {"file", offsetof(struct candidate, file)},
    {"component", offsetof(struct candidate, component)},
    {"series", offsetof(struct candidate, series)},
};
#define GROUPS (sizeof groups / sizeof *groups)

struct selector {
    struct candidate *candidates;
    size_t group; // index of groups; GROUPS: all candidates are one group
    struct weights weights;
    bool *chosen;
};

static const char *group_of(const struct selector *selector, size_t index)
{
    if (selector->group == GROUPS)
        return "";
    const char *text = *(char *const *)((const char *)&selector->candidates[index] +
                                        groups[selector->group].offset);
    return text != NULL ? text : "";
}

static int compare(const void *left, const void *right, void *data)
{
    const struct selector *selector = data;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = strcmp(group_of(selector, a), group_of(selector, b));
    if (order != 0)
        return order;
    uint64_t p = selector->candidates[a].position, q = selector->candidates[b].position;
    // Groups other than series keep the injector's order.
    if (selector->group < GROUPS && strcmp(groups[selector->group].name, "series") == 0 && p != q)
        return p < q ? -1 : 1;
    return a < b ? -1 : a > b;
}

static struct error *sort(const struct selector *selector, size_t count, size_t **ret_order)
{
    size_t *order = calloc(count + 1, sizeof *order);
    if (order == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare, (void *)selector);
    *ret_order = order;
    return NULL;
}

static struct error *sample_group(struct selector *selector, const struct selection *selection,
                                  uint64_t seed, const size_t *members, size_t count)
{
    const char *name = group_of(selector, members[0]);
    struct stats_random random = stats_random_start(seed, SELECTION_STREAM | hash_text(name));
    _cleanup_free_ uint64_t *drawn = NULL;
    _cleanup_free_ double *weights = calloc(count, sizeof *weights);
    if (weights == NULL)
        return error_no_memory();
    bool uniform = true;
    for (size_t i = 0; i < count; i++) {
        struct candidate *candidate = &selector->candidates[members[i]];
        candidate->weight *= weights_find(&selector->weights, candidate->type);
        weights[i] = candidate->weight;
        uniform &= weights[i] == weights[0] && weights[i] > 0;
    }
    uint64_t drawn_count = 0;
    TRY(uniform ? stats_sample(&random, count, selection->sample, &drawn, &drawn_count)
                : stats_sample_weighted(&random, weights, count, selection->sample, &drawn,
                                        &drawn_count));
    for (uint64_t i = 0; i < drawn_count; i++)
        selector->chosen[members[drawn[i]]] = true;
    return NULL;
}

static struct error *choose_by_group(struct selector *selector, const struct selection *selection,
                                     uint64_t seed, size_t count)
{
    _cleanup_free_ size_t *order = NULL;
    TRY(sort(selector, count, &order));
    for (size_t start = 0, end; start < count; start = end) {
        const char *name = group_of(selector, order[start]);
        bool alone = selection->kind == SELECT_SWEEP && *name == '\0'; // no series: one by itself
        for (end = start + 1; end < count && !alone; end++)
            if (strcmp(group_of(selector, order[end]), name) != 0)
                break;
        if (selection->kind == SELECT_SWEEP)
            selector->chosen[order[start]] = true;
        else
            TRY(sample_group(selector, selection, seed, order + start, end - start));
    }
    return NULL;
}

static size_t group_named(const char *name)
{
    size_t group = 0;
    while (group < GROUPS && (name == NULL || strcmp(groups[group].name, name) != 0))
        group++;
    return group;
}

struct error *selection_choose(const struct selection *selection, uint64_t seed,
                               struct candidate *candidates, size_t count, bool **ret_chosen)
{
    _cleanup_free_ bool *chosen = calloc(count + 1, sizeof *chosen);
    if (chosen == NULL)
        return error_no_memory();
    struct selector selector = {
        .candidates = candidates,
        .chosen = chosen,
        .group = group_named(selection->kind == SELECT_SWEEP ? "series" : selection->per),
    };
    struct error *error = NULL;
    if (selection->kind == SELECT_ALL) {
        memset(chosen, true, count);
    } else {
        if (selection->weights_file != NULL)
            error = weights_read(selection->weights_file, &selector.weights);
        if (error == NULL)
            error = choose_by_group(&selector, selection, seed, count);
        weights_deinit(&selector.weights);
    }
    if (error == NULL && count != 0 && memchr(chosen, true, count) == NULL)
        error = error_new("selection: nothing is left to run; by %s, no fault type found here has "
                          "a weight above 0",
                          selection->weights_file != NULL ? selection->weights_file : "weight");
    if (error == NULL)
        *ret_chosen = TAKE(chosen);
    return error;
}
