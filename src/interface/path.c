// SPDX-License-Identifier: GPL-3.0-or-later
// A breadth-first search from the parameters over the pointers that the trace tells of. Areas are
// compared by what they are in every run.
#include "interface/path.h"

#include "base/cleanup.h"

#include <string.h>

struct edge {
    uint64_t from, to; // areas
    int64_t at, offset;
};
struct found {
    uint64_t area;
    struct corruption_path path; // to what the last pointer leads to
    int64_t offset;              // of that in the area
};
struct paths {
    ARRAY(struct found) found; // in the order of the search
    struct map of;             // area: index of the shortest
};

static uint64_t area_of(const struct world *world, struct meaning meaning)
{
    return world_meaning_hash(world, (struct meaning){.kind = meaning.kind, .area = meaning.area});
}

void paths_free(struct paths *paths)
{
    if (paths == NULL)
        return;
    ARRAY_DEINIT(&paths->found);
    map_deinit(&paths->of);
    free(paths);
}

static struct error *add(struct paths *paths, uint64_t area, int64_t offset,
                         const struct corruption_path *path)
{
    bool is_new = !map_has(&paths->of, area);
    struct found *found = is_new ? ARRAY_ADD(&paths->found) : NULL;
    if (!is_new)
        return NULL;
    if (found == NULL)
        return error_no_memory();
    *found = (struct found){.area = area, .path = *path, .offset = offset};
    return map_put(&paths->of, area, (uint32_t)(paths->found.count - 1));
}

static struct error *add_root(struct paths *paths, const struct world *world,
                              const uint64_t stack[2], unsigned root, uint64_t value)
{
    struct meaning meaning = world_meaning_at(world, stack, value);
    if (meaning.kind == MEANING_NONE)
        return NULL;
    const struct corruption_path path = {.root = root};
    return add(paths, area_of(world, meaning), meaning.offset, &path);
}

static struct error *add_roots(struct paths *paths, const struct ended_call *call)
{
    const struct world *world = items_world(call->items);
    unsigned count = call->frame->function == MAP_NONE
                         ? INTERFACE_ARGUMENTS
                         : world->functions.items[call->frame->function].parameters;
    // Other registers may lead to memory, but not in another program, or another build of it.
    for (unsigned i = 0; i < count; i++)
        TRY(add_root(paths, world, call->stack, i, call->frame->arguments[i]));
    return call->has_result ? add_root(paths, world, call->stack, CORRUPTION_RESULT, call->result)
                            : NULL;
}

static int by_source(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct error *make_edges(const struct ended_call *call, struct edge **ret_edges,
                                size_t *ret_count)
{
    const struct world *world = items_world(call->items);
    size_t all, count = 0;
    const struct pointer *pointers = items_pointers(call->items, &all);
    struct edge *edges = calloc(all + 1, sizeof *edges);
    if (edges == NULL)
        return error_no_memory();
    for (size_t i = 0; i < all; i++) {
        struct meaning from = world_meaning_at(world, call->stack, pointers[i].address);
        struct meaning to = world_meaning_at(world, call->stack, pointers[i].value);
        if (from.kind != MEANING_NONE && to.kind != MEANING_NONE)
            edges[count++] = (struct edge){.from = area_of(world, from),
                                           .to = area_of(world, to),
                                           .at = from.offset,
                                           .offset = to.offset};
    }
    qsort(edges, count, sizeof *edges, by_source);
    *ret_edges = edges;
    *ret_count = count;
    return NULL;
}

static size_t first_edge(const struct edge *edges, size_t count, uint64_t area)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (edges[middle].from < area)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// False: it is farther away than a rule can say.
static bool add_step(struct corruption_path *path, int64_t to, int64_t from)
{
    int64_t offset;
    if (__builtin_sub_overflow(to, from, &offset) || offset <= INT32_MIN || offset >= INT32_MAX)
        return false;
    path->offsets[path->steps++] = offset;
    return true;
}

static struct error *search(struct paths *paths, const struct edge *edges, size_t count)
{
    for (size_t i = 0; i < paths->found.count; i++) {
        const struct found here = paths->found.items[i]; // the array may move
        if (here.path.steps + 1 >= CORRUPTION_STEPS)
            continue;
        for (size_t j = first_edge(edges, count, here.area);
             j < count && edges[j].from == here.area; j++) {
            struct corruption_path path = here.path;
            if (add_step(&path, edges[j].at, here.offset))
                TRY(add(paths, edges[j].to, edges[j].offset, &path));
        }
    }
    return NULL;
}

struct error *paths_find(const struct ended_call *call, struct paths **ret_paths)
{
    _cleanup_free_ struct edge *edges = NULL;
    size_t count = 0;
    TRY(make_edges(call, &edges, &count));
    struct paths *paths = calloc(1, sizeof *paths);
    struct error *error = paths == NULL ? error_no_memory() : add_roots(paths, call);
    if (error == NULL)
        error = search(paths, edges, count);
    if (error == NULL)
        *ret_paths = paths;
    else
        paths_free(paths);
    return error;
}

struct error *paths_find_difference(const struct interface_comparison *comparison,
                                    struct paths **ret_paths)
{
    struct ended_call call = {.items = comparison->good,
                              .frame = &comparison->frame,
                              .stack = comparison->stack,
                              .has_result = comparison->has_result,
                              .result = comparison->result};
    for (size_t i = 0; i < comparison->differences.count; i++) {
        const struct interface_difference *difference = &comparison->differences.items[i];
        if (difference->change == CHANGE_WRONG_RESULT && difference->good.size == 8)
            call.has_result = false; // the result leads elsewhere now
    }
    return paths_find(&call, ret_paths);
}

struct corruption_path paths_of(const struct paths *paths, const struct world *world,
                                struct meaning target)
{
    uint32_t index = map_find(&paths->of, area_of(world, target));
    if (index == MAP_NONE)
        return (struct corruption_path){.root = CORRUPTION_NOWHERE};
    struct corruption_path path = paths->found.items[index].path;
    return add_step(&path, target.offset, paths->found.items[index].offset)
               ? path
               : (struct corruption_path){.root = CORRUPTION_NOWHERE};
}
