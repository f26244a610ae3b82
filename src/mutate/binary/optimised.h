// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of an optimised function: the statements of its blocks, its conditions and what
// they guard.
#ifndef ORDEAL_MUTATE_BINARY_OPTIMISED_H
#define ORDEAL_MUTATE_BINARY_OPTIMISED_H

#include "mutate/binary/graph.h"

#define LONGEST_CHAIN 32

struct optimised {
    struct finding *finding;
    struct graph graph;
    unsigned *statements; // by region
    uint32_t *joined;     // by region: one in the same block of the source, or itself
};

static inline const struct body *body_of(const struct optimised *function)
{
    return &function->finding->body;
}

static inline const struct graph_block *block_at(const struct optimised *function, uint32_t block)
{
    return &function->graph.blocks[block];
}

// The statements that are seen in a block: what changes memory outside of the frame, and calls.
unsigned optimised_count_effects(const struct optimised *function, uint32_t block);

// ---- guards.c: conditions ----

// The tests of one condition. Each leads to a later one or to one of two blocks.
struct chain {
    uint32_t tests[LONGEST_CHAIN]; // blocks that end with a branch
    unsigned count;
    uint32_t inner[4 * LONGEST_CHAIN]; // the blocks of all tests but what is before the first
    unsigned inner_count;
    uint32_t exits[2];
};

// The condition whose first test ends a block.
void guard_read_chain(const struct optimised *function, uint32_t block, struct chain *chain);

enum guard {
    GUARD_UNKNOWN,
    GUARD_IF,   // if (condition) { a few statements }: one side is where both meet
    GUARD_EXIT, // if (condition) { a few statements; return value; }: one side leaves
    GUARD_ELSE, // if (condition) { a few statements } else { ... }: both sides go on where they
                // meet
};

// What a condition guards; *ret_then: the exit of the chain that leads there.
enum guard guard_read(const struct optimised *function, const struct chain *chain,
                      unsigned *ret_then);
// Whether a block does nothing but leave the function.
bool guard_is_exit(const struct optimised *function, uint32_t block);

#endif
