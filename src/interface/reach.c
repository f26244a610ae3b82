// SPDX-License-Identifier: GPL-3.0-or-later
// Passes 1 and 2 of figure 4.8 in one: areas and edges are collected, and edges of temporary areas
// are left out when the graph is searched. Differences from the thesis: the program's own variables
// are a node; a block that realloc() moved and its new place are one node, because the pointers in
// it moved as well.
#include "interface/reach.h"

#include "base/cleanup.h"
#include "interface/world.h"

#include <string.h>

enum { NODE_OUTPUT, NODE_STACK, NODE_PROGRAM_HEAP, NODE_PROGRAM_DATA, NODE_FIRST_AREA };

struct edge {
    uint32_t from, to; // the area `from` has a pointer to the area `to`
};
struct graph {
    struct world world;
    ARRAY(struct edge) edges; // areas are counted from NODE_FIRST_AREA
    struct map known;
    uint64_t stores;
};

void reach_deinit(struct reach *reach)
{
    free(reach->reachable);
    *reach = (struct reach){0};
}

static void graph_deinit(struct graph *graph)
{
    world_deinit(&graph->world);
    ARRAY_DEINIT(&graph->edges);
    map_deinit(&graph->known);
}

static struct error *add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
    bool is_new;
    TRY(map_add(&graph->known, (uint64_t)from << 32 | to, &is_new));
    if (!is_new)
        return NULL;
    struct edge *edge = ARRAY_ADD(&graph->edges);
    if (edge == NULL)
        return error_no_memory();
    *edge = (struct edge){from, to};
    return NULL;
}

// The node that a store writes to; false if nothing there matters.
static bool written_node(const struct world *world, struct meaning target, uint32_t *ret_node)
{
    if (target.kind == MEANING_STACK) {
        *ret_node = NODE_STACK;
        return true;
    }
    if (target.kind == MEANING_NONE)
        return false;
    const struct area *area = &world->areas.items[target.area];
    if (area->owner == OWNER_OTHER)
        return false;
    if (area->owner == OWNER_LIBRARY)
        *ret_node = NODE_FIRST_AREA + target.area;
    else
        *ret_node = area->kind >= AREA_MODULE ? NODE_PROGRAM_DATA : NODE_PROGRAM_HEAP;
    return true;
}

static struct error *add_pointer(struct graph *graph, uint32_t from, uint64_t value)
{
    struct meaning meaning = world_meaning(&graph->world, value);
    if (meaning.kind != MEANING_AREA ||
        graph->world.areas.items[meaning.area].owner != OWNER_LIBRARY)
        return NULL;
    return add_edge(graph, from, NODE_FIRST_AREA + meaning.area);
}

static struct error *add_store(struct graph *graph, const struct event *event)
{
    uint64_t address = event->numbers[1], size = event->numbers[2];
    uint32_t node;
    graph->stores++;
    if (size < sizeof(uint64_t) ||
        !written_node(&graph->world, world_meaning(&graph->world, address), &node))
        return NULL;
    for (uint64_t at = -address & 7; at + 8 <= size; at += 8) {
        uint64_t value;
        memcpy(&value, event->texts[0] + at, sizeof value);
        TRY(add_pointer(graph, node, value));
    }
    return NULL;
}

static struct error *add_result(struct graph *graph, const struct event *event)
{
    const struct frame *frame = world_frame(&graph->world);
    if (frame == NULL || frame->callback || frame->by_loader)
        return NULL;
    if (frame->function != MAP_NONE) {
        const struct function *function = &graph->world.functions.items[frame->function];
        if (function->result == INTERFACE_RESULT_NONE ||
            function->result == INTERFACE_RESULT_VECTOR || function->bytes < 8)
            return NULL;
    }
    return add_pointer(graph, NODE_OUTPUT, event->numbers[0]);
}

static struct error *take(struct graph *graph, const struct event *event)
{
    if (event->kind == INTERFACE_STORE)
        return add_store(graph, event);
    TRY(world_update(&graph->world, event));
    if (event->kind == INTERFACE_RETURN)
        TRY(add_result(graph, event));
    if (event->kind == INTERFACE_RETURN || event->kind == INTERFACE_ABANDON ||
        event->kind == INTERFACE_RESUME)
        world_leave(&graph->world);
    return NULL;
}

// The node of each area: that of what the block has become after all its reallocations. A block is
// replaced by a later one.
static uint32_t *find_nodes(const struct world *world)
{
    uint32_t *nodes = calloc(NODE_FIRST_AREA + world->areas.count, sizeof *nodes);
    for (uint32_t node = 0; nodes != NULL && node < NODE_FIRST_AREA; node++)
        nodes[node] = node;
    for (size_t area = world->areas.count; nodes != NULL && area > 1;) {
        uint32_t by = world->areas.items[--area].replaced_by;
        nodes[NODE_FIRST_AREA + area] =
            by == 0 ? (uint32_t)(NODE_FIRST_AREA + area) : nodes[NODE_FIRST_AREA + by];
    }
    return nodes;
}

static bool is_temporary(const struct world *world, uint32_t node)
{
    return node >= NODE_FIRST_AREA && world->areas.items[node - NODE_FIRST_AREA].temporary;
}

// The edges of each node in a row: those of node n are [first[n], first[n + 1]).
static struct error *sort_edges(const struct graph *graph, const uint32_t *node_of, size_t nodes,
                                uint32_t **ret_first, uint32_t **ret_targets)
{
    size_t count = graph->edges.count;
    uint32_t *first = calloc(nodes + 2, sizeof *first),
             *targets = calloc(count + 1, sizeof *targets);
    if (first == NULL || targets == NULL) {
        free(first);
        free(targets);
        return error_no_memory();
    }
    for (size_t i = 0; i < count; i++)
        first[node_of[graph->edges.items[i].from] + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < count; i++) {
        const struct edge *edge = &graph->edges.items[i];
        targets[first[node_of[edge->from] + 1]++] = node_of[edge->to];
    }
    *ret_first = first;
    *ret_targets = targets;
    return NULL;
}

static struct error *search(const struct graph *graph, struct reach *ret_reach)
{
    const struct world *world = &graph->world;
    size_t nodes = NODE_FIRST_AREA + world->areas.count;
    _cleanup_free_ uint32_t *first = NULL, *targets = NULL, *node_of = find_nodes(world);
    _cleanup_free_ uint32_t *waiting = calloc(nodes, sizeof *waiting);
    _cleanup_free_ unsigned char *seen = calloc(nodes, 1);
    unsigned char *reachable = calloc(world->areas.count + 1, 1);
    struct error *error = waiting == NULL || seen == NULL || reachable == NULL || node_of == NULL
                              ? error_no_memory()
                              : sort_edges(graph, node_of, nodes, &first, &targets);
    if (error != NULL) {
        free(reachable);
        return error;
    }
    size_t count = 0;
    for (; count < NODE_FIRST_AREA; count++) {
        waiting[count] = (uint32_t)count;
        seen[count] = 1;
    }
    while (count > 0) {
        uint32_t node = waiting[--count];
        for (uint32_t i = first[node]; i < first[node + 1]; i++)
            if (!seen[targets[i]] && !is_temporary(world, targets[i])) {
                seen[targets[i]] = 1;
                waiting[count++] = targets[i];
            }
    }
    for (uint32_t area = 1; area < world->areas.count; area++)
        reachable[area] = seen[node_of[NODE_FIRST_AREA + area]];
    *ret_reach = (struct reach){.reachable = reachable,
                                .count = world->areas.count,
                                .stores = graph->stores,
                                .calls = world->calls};
    return NULL;
}

struct error *reach_find(const struct trace_source *source, uint32_t program,
                         struct reach *ret_reach)
{
    struct stream *stream;
    TRY(stream_open(source, program, &stream));
    struct graph *graph = calloc(1, sizeof *graph);
    struct error *error = graph == NULL ? error_no_memory() : NULL;
    struct event event;
    bool more = true;
    while (error == NULL && more) {
        error = stream_next(stream, &event, &more);
        if (error == NULL && more)
            error = take(graph, &event);
    }
    if (error == NULL)
        error = search(graph, ret_reach);
    if (graph != NULL)
        graph_deinit(graph);
    free(graph);
    stream_close(stream);
    return error;
}
