// SPDX-License-Identifier: GPL-3.0-or-later
#include "mutate/binary/graph.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 1024 // the sets grow with the square

void graph_deinit(struct graph *graph)
{
    free(graph->blocks);
    ARRAY_DEINIT(&graph->ways);
    free(graph->above);
    free(graph->below);
    *graph = (struct graph){0};
}

// Other parts of the function are outside of the graph.
static bool read_block(const struct body *body, const struct flow_function *function,
                       struct graph *graph, uint32_t number)
{
    const struct flow_image *image = body->code->image;
    const struct flow_block *block = &image->blocks.items[function->first_block + number];
    struct graph_block *made = &graph->blocks[number];
    *made = (struct graph_block){.first = block->first,
                                 .end = block->first + block->count,
                                 .taken = NO_BLOCK,
                                 .falls = NO_BLOCK,
                                 .next = (uint32_t)graph->ways.count,
                                 .meet = NO_BLOCK,
                                 .stops = block->end == FLOW_STOPS};
    if (block->end == FLOW_UNKNOWN || block->count == 0)
        return false;
    bool table = false;
    for (uint32_t i = 0; i < block->out_count; i++) {
        const struct flow_edge *edge = &image->edges.items[block->edges_out + i];
        uint32_t to = edge->block - function->first_block;
        table |= edge->kind == FLOW_TABLE;
        if (edge->block < function->first_block || to >= graph->count) {
            made->leaks = true;
            continue;
        }
        uint32_t *way = ARRAY_ADD(&graph->ways);
        if (way == NULL)
            return false;
        *way = to;
        made->nexts++;
        *(edge->kind == FLOW_TAKEN ? &made->taken : &made->falls) = to;
    }
    if (table)
        made->taken = made->falls = NO_BLOCK;
    if (made->nexts == 1) { // also a jump through a table, or a branch to what follows it
        made->taken = NO_BLOCK;
        made->falls = graph->ways.items[made->next];
    }
    made->branch = made->nexts == 2 && made->taken != NO_BLOCK && made->falls != NO_BLOCK &&
                   made->taken != made->falls && !made->leaks &&
                   insn_at(body, made->end - 1)->kind == ISA_BRANCH;
    return true;
}

// What leads only to blocks that stop stops, too.
static void find_stops(struct graph *graph)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = graph->count; b-- > 0;) {
            struct graph_block *block = &graph->blocks[b];
            bool all = block->nexts > 0 && !block->leaks;
            for (uint32_t i = 0; i < block->nexts; i++)
                all &= graph->blocks[graph_next(graph, b)[i]].stops;
            changed |= all && !block->stops;
            block->stops |= all;
        }
    }
}

static uint64_t *set_of(uint64_t *sets, const struct graph *graph, uint32_t block)
{
    return sets + (size_t)block * graph->words;
}

// Makes a block's set smaller: to what the sets of its neighbours have in common, and itself.
static bool narrow(uint64_t *sets, const struct graph *graph, uint32_t block,
                   const uint32_t *neighbours, size_t count)
{
    bool changed = false;
    uint64_t *own = set_of(sets, graph, block);
    for (uint32_t w = 0; w < graph->words; w++) {
        uint64_t common = count > 0 ? UINT64_MAX : 0;
        for (size_t i = 0; i < count; i++)
            common &= set_of(sets, graph, neighbours[i])[w];
        if (block / 64 == w)
            common |= 1ull << block % 64;
        common &= own[w];
        changed |= common != own[w];
        own[w] = common;
    }
    return changed;
}

// `going` has room for all ways out of a block.
static void find_below(struct graph *graph, uint32_t *going)
{
    memset(graph->below, 0xff, (size_t)graph->count * graph->words * sizeof *graph->below);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = graph->count; b-- > 0;) {
            const struct graph_block *block = &graph->blocks[b];
            size_t count = 0;
            for (uint32_t i = 0; i < block->nexts && !block->leaks; i++)
                if (!graph->blocks[graph_next(graph, b)[i]].stops)
                    going[count++] = graph_next(graph, b)[i];
            changed |= narrow(graph->below, graph, b, going, count);
        }
    }
}

// starts[b]: where the list of those that lead to a block begins.
static void find_above(struct graph *graph, const uint32_t *starts, const uint32_t *leading)
{
    memset(graph->above, 0xff, (size_t)graph->count * graph->words * sizeof *graph->above);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < graph->count; b++)
            changed |= narrow(graph->above, graph, b, leading + starts[b],
                              b == 0 ? 0 : starts[b + 1] - starts[b]);
    }
}

static bool find_sets(struct graph *graph)
{
    uint32_t *starts = calloc(graph->count + 2, sizeof *starts);
    uint32_t *leading = calloc(graph->ways.count + 1, sizeof *leading);
    bool complete = starts != NULL && leading != NULL;
    for (uint32_t b = 0; complete && b < graph->count; b++)
        starts[b + 2] = graph->blocks[b].before;
    for (uint32_t b = 0; complete && b < graph->count; b++)
        starts[b + 2] += starts[b + 1];
    for (uint32_t b = 0; complete && b < graph->count; b++) {
        for (uint32_t i = 0; i < graph->blocks[b].nexts; i++)
            leading[starts[graph_next(graph, b)[i] + 1]++] = b;
    }
    if (complete) {
        find_above(graph, starts, leading);
        find_below(graph, leading);
    }
    free(starts);
    free(leading);
    return complete;
}

static unsigned size_below(const struct graph *graph, uint32_t block)
{
    unsigned size = 0;
    for (uint32_t w = 0; w < graph->words; w++)
        size += (unsigned)__builtin_popcountll(graph->below[(size_t)block * graph->words + w]);
    return size;
}

// Of all blocks that each way leads through, the first is the one that most others are below.
static void find_meets(struct graph *graph)
{
    for (uint32_t b = 0; b < graph->count; b++) {
        unsigned most = 0;
        for (uint32_t other = 0; other < graph->count; other++) {
            if (other == b || !graph_is_below(graph, b, other))
                continue;
            unsigned size = size_below(graph, other);
            if (size > most) {
                most = size;
                graph->blocks[b].meet = other;
            }
        }
    }
}

static void find_regions(struct graph *graph)
{
    for (uint32_t b = 0; b < graph->count; b++) {
        graph->blocks[b].order = b;
        for (uint32_t other = 0; other < b; other++) {
            bool together = (graph_is_above(graph, other, b) && graph_is_below(graph, other, b)) ||
                            (graph_is_above(graph, b, other) && graph_is_below(graph, b, other));
            if (together) {
                graph->blocks[b].order = graph->blocks[other].order;
                break;
            }
        }
    }
}

bool graph_read(const struct body *body, struct graph *graph)
{
    const struct flow_function *function = &body->code->image->functions.items[body->function];
    *graph = (struct graph){.count = function->block_count};
    graph->words = (graph->count + 63) / 64;
    if (graph->count == 0 || graph->count > MOST_BLOCKS)
        return false;
    size_t size = (size_t)graph->count * graph->words;
    graph->blocks = calloc(graph->count, sizeof *graph->blocks);
    graph->above = calloc(size, sizeof *graph->above);
    graph->below = calloc(size, sizeof *graph->below);
    bool complete = graph->blocks != NULL && graph->above != NULL && graph->below != NULL;
    for (uint32_t b = 0; complete && b < graph->count; b++)
        complete = read_block(body, function, graph, b);
    for (uint32_t b = 0; complete && b < graph->count; b++) {
        for (uint32_t i = 0; i < graph->blocks[b].nexts; i++)
            graph->blocks[graph_next(graph, b)[i]].before++;
    }
    if (complete)
        find_stops(graph);
    complete = complete && find_sets(graph);
    if (!complete) {
        graph_deinit(graph);
        return false;
    }
    find_meets(graph);
    find_regions(graph);
    return true;
}
