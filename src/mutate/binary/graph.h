// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of an optimised function: which are always executed together, and where branches meet
// again.
#ifndef ORDEAL_MUTATE_BINARY_GRAPH_H
#define ORDEAL_MUTATE_BINARY_GRAPH_H

#include "mutate/binary/internal.h"

#define NO_BLOCK UINT32_MAX // the function's end

struct graph_block {
    uint32_t first, end;   // instructions
    uint32_t taken, falls; // of a branch; of other blocks `falls` is where it goes on, or NO_BLOCK
    uint32_t next, nexts;  // all ways out, in `ways`
    uint32_t before;       // how many ways lead here
    uint32_t meet;         // the first block that is executed whatever this one decides
    uint32_t order;        // the number of its region: blocks that are always executed together
    bool branch;           // ends with a conditional jump to two blocks of the function
    bool stops;            // the program ends here, or behind it
    bool leaks;            // some way out leads to no block of the graph
};

struct graph {
    uint32_t count, words;
    struct graph_block *blocks;
    ARRAY(uint32_t) ways;    // blocks
    uint64_t *above, *below; // sets by block: what dominates it, what it always leads to
};

// False if the function is too large or has jumps that are not understood.
bool graph_read(const struct body *body, struct graph *graph);
void graph_deinit(struct graph *graph);

static inline bool graph_is_above(const struct graph *graph, uint32_t upper, uint32_t lower)
{
    return (graph->above[(size_t)lower * graph->words + upper / 64] >> upper % 64 & 1) != 0;
}
// Whether each way from `upper` leads through `lower`, unless the program ends.
static inline bool graph_is_below(const struct graph *graph, uint32_t upper, uint32_t lower)
{
    return (graph->below[(size_t)upper * graph->words + lower / 64] >> lower % 64 & 1) != 0;
}
static inline const uint32_t *graph_next(const struct graph *graph, uint32_t block)
{
    return graph->ways.items + graph->blocks[block].next;
}

#endif
