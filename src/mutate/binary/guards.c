// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions of optimised code: which tests belong to one, and what it guards. Machine code shows
// neither where a part ends that leaves nor an `else` behind it, so the usual way to write it is
// taken.
#include "mutate/binary/optimised.h"

bool guard_is_exit(const struct optimised *function, uint32_t block)
{
    const struct graph_block *at = block_at(function, block);
    return at->nexts == 0 && !at->stops && !at->leaks &&
           optimised_count_effects(function, block) == 0 &&
           insn_at(body_of(function), at->end - 1)->kind == ISA_RET; // no call by a jump
}

// ---- the tests of a condition ----

static bool has_block(const struct chain *chain, uint32_t block)
{
    for (unsigned i = 0; i < chain->inner_count; i++)
        if (chain->inner[i] == block)
            return true;
    return chain->tests[0] == block;
}

// How many of the ways into a block come from a chain's tests.
static unsigned ways_in(const struct optimised *function, const struct chain *chain, uint32_t block)
{
    unsigned count = 0;
    for (unsigned i = 0; i < chain->count; i++)
        count += (block_at(function, chain->tests[i])->taken == block) +
                 (block_at(function, chain->tests[i])->falls == block);
    return count;
}

// Adds the test that begins with a block: it only computes, and only the chain leads to it. False
// if it is none.
static bool add_test(const struct optimised *function, struct chain *chain, unsigned exit)
{
    struct chain longer = *chain;
    uint32_t at = chain->exits[exit], other = chain->exits[!exit];
    if (block_at(function, at)->before != ways_in(function, chain, at))
        return false;
    for (;;) {
        const struct graph_block *block = block_at(function, at);
        if (optimised_count_effects(function, at) > 0 || has_block(&longer, at) ||
            longer.inner_count >= sizeof longer.inner / sizeof *longer.inner)
            return false;
        longer.inner[longer.inner_count++] = at;
        for (uint32_t i = block->first; i < block->end; i++)
            if (insn_is_call(insn_at(body_of(function), i)))
                return false; // most often a statement assigns its result
        if (block->branch)
            break;
        if (block->falls == NO_BLOCK || block->nexts != 1 || block->leaks ||
            block_at(function, block->falls)->before != 1)
            return false;
        at = block->falls;
    }
    const struct graph_block *test = block_at(function, at);
    uint32_t away = test->taken == other ? test->falls : test->falls == other ? test->taken : at;
    if (away == at || longer.count == LONGEST_CHAIN || has_block(&longer, away))
        return false;
    longer.tests[longer.count++] = at;
    longer.exits[exit] = away;
    *chain = longer;
    return true;
}

void guard_read_chain(const struct optimised *function, uint32_t block, struct chain *chain)
{
    *chain = (struct chain){
        .tests = {block},
        .count = 1,
        .exits = {block_at(function, block)->falls, block_at(function, block)->taken}};
    while (add_test(function, chain, 0) || add_test(function, chain, 1))
        ;
}

// ---- what a condition guards ----

struct part {
    unsigned effects, blocks;
    uint64_t written;
    bool loops;
    bool odd;       // it has a loop, or is entered from elsewhere
    bool registers; // it does nothing but change variables in registers
};

// What is executed from a block on, before `meet`.
static struct part look_at_part(const struct optimised *function, uint32_t first, uint32_t meet)
{
    struct part part = {0};
    for (uint32_t b = 0; b < function->graph.count; b++) {
        if (!graph_is_above(&function->graph, first, b) ||
            (meet != NO_BLOCK && graph_is_above(&function->graph, meet, b)))
            continue;
        const struct graph_block *block = block_at(function, b);
        const uint32_t *next = graph_next(&function->graph, b);
        part.blocks++;
        part.effects += optimised_count_effects(function, b) + block->branch;
        for (uint32_t i = 0; i < block->nexts; i++)
            part.loops |= graph_is_above(&function->graph, next[i], b);
        for (uint32_t i = 0; i < block->nexts; i++)
            part.odd |= graph_is_above(&function->graph, next[i], b) ||
                        (next[i] != meet && !graph_is_above(&function->graph, first, next[i]));
        // It leaves, or it is a switch.
        part.odd |= block->nexts > 2 || block->leaks ||
                    (block->nexts == 0 && meet != NO_BLOCK && !block->stops);
        for (uint32_t i = block->first; i < block->end; i++)
            part.written |= body_writes(body_of(function), i);
    }
    if (meet != NO_BLOCK && part.effects == 0 &&
        (part.written & body_of(function)->live_in.items[meet] & ~NOT_TEMPORARY) != 0)
        part.effects = part.registers = 1; // a variable in a register
    return part;
}

// ---- loops ----

// Whether a branch is in the loop from `header` to `last`, and one of its ways leads back or out.
static bool decides(const struct graph *graph, const struct chain *chain, uint32_t header,
                    uint32_t last)
{
    uint32_t block = chain->tests[0];
    bool inside = graph_is_above(graph, header, block) &&
                  (block == last || graph_is_below(graph, header, block) ||
                   graph_is_above(graph, block, last));
    for (unsigned i = 0; i < 2 && inside; i++)
        if (chain->exits[i] == header || !graph_is_above(graph, header, chain->exits[i]))
            return true;
    return false;
}

// Whether a branch decides if a loop goes on.
static bool decides_loop(const struct optimised *function, const struct chain *chain)
{
    const struct graph *graph = &function->graph;
    for (uint32_t last = 0; last < graph->count; last++) {
        const uint32_t *next = graph_next(graph, last);
        for (uint32_t i = 0; i < block_at(function, last)->nexts; i++)
            if (graph_is_above(graph, next[i], last) && decides(graph, chain, next[i], last))
                return true;
    }
    return false;
}

// ---- kinds ----

static bool is_if(const struct optimised *function, const struct chain *chain, uint32_t meet,
                  unsigned *ret_then)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t then = chain->exits[i];
        if (chain->exits[!i] != meet ||
            block_at(function, then)->before != ways_in(function, chain, then))
            continue;
        struct part part = look_at_part(function, then, meet);
        *ret_then = i;
        return !part.odd && part.blocks > 0 && part.effects > 0 &&
               part.effects <= MODEL_MOST_STATEMENTS;
    }
    return false;
}

// Whether the side of a chain at which the function is left guards but a few statements.
static bool leaves_soon(const struct optimised *function, const struct chain *chain, unsigned side,
                        uint32_t meet, struct part *ret_part)
{
    uint32_t then = chain->exits[side];
    *ret_part = look_at_part(function, then, meet);
    if (then == meet)
        return false;
    // Several ifs may share what does nothing but leave.
    if (ret_part->effects == 0)
        return ret_part->blocks == 1;
    return block_at(function, then)->before == ways_in(function, chain, then) && !ret_part->loops &&
           ret_part->effects <= MODEL_MOST_STATEMENTS;
}

// If both sides could be the early exit, it is the one that does less. Then compilers put it behind
// the other.
static bool is_early_exit(const struct optimised *function, const struct chain *chain,
                          uint32_t meet, unsigned *ret_then)
{
    struct part parts[2];
    bool may[2];
    if (meet != NO_BLOCK && !guard_is_exit(function, meet))
        return false;
    *ret_then = chain->exits[1] == meet;
    if (chain->exits[*ret_then] == meet) // all that is behind it is guarded, or it leaves
        return true;
    for (unsigned i = 0; i < 2; i++)
        may[i] = leaves_soon(function, chain, i, meet, &parts[i]);
    if (may[0] && may[1])
        *ret_then = parts[0].effects != parts[1].effects ? parts[1].effects < parts[0].effects
                                                         : chain->exits[1] > chain->exits[0];
    else
        *ret_then = may[1];
    return may[0] || may[1];
}

// The part behind the condition comes first, as in the source.
static bool is_else(const struct optimised *function, const struct chain *chain, uint32_t meet,
                    unsigned *ret_then)
{
    bool small[2];
    for (unsigned i = 0; i < 2; i++) {
        uint32_t side = chain->exits[i];
        if (side == meet || meet == NO_BLOCK ||
            block_at(function, side)->before != ways_in(function, chain, side))
            return false;
        struct part part = look_at_part(function, side, meet);
        if (part.odd || part.effects == 0 || part.registers)
            return false; // values of ?: are in registers, too
        small[i] = part.effects <= MODEL_MOST_STATEMENTS;
    }
    *ret_then = chain->exits[1] < chain->exits[0];
    return small[*ret_then];
}

// What is compared with a number before a branch: a register, or ISA_NONE.
static uint8_t compared_register(const struct optimised *function, uint32_t block)
{
    const struct graph_block *at = block_at(function, block);
    if (!at->branch || at->end - at->first < 2)
        return ISA_NONE;
    const struct isa_insn *compare = insn_at(body_of(function), at->end - 2);
    bool number = (compare->kind == ISA_COMPARE && compare->dst == ISA_NONE) ||
                  (compare->kind == ISA_TEST && compare->dst == compare->src);
    return number && (compare->flags & ISA_MEMORY) == 0 ? compare->src : ISA_NONE;
}

// Whether a chain ends where the same register is compared with another number, and nothing else
// is done: so cases of a switch are told apart.
static bool tells_cases(const struct optimised *function, const struct chain *chain)
{
    uint8_t compared = compared_register(function, chain->tests[chain->count - 1]);
    for (unsigned i = 0; i < 2 && compared != ISA_NONE; i++) {
        const struct graph_block *next = block_at(function, chain->exits[i]);
        if (next->end - next->first == 2 &&
            compared_register(function, chain->exits[i]) == compared)
            return true;
    }
    const struct graph_block *first = block_at(function, chain->tests[0]);
    if (compared == ISA_NONE || first->end - first->first != 2)
        return false;
    for (uint32_t b = 0; b < function->graph.count; b++)
        if (compared_register(function, b) == compared &&
            (block_at(function, b)->taken == chain->tests[0] ||
             block_at(function, b)->falls == chain->tests[0]))
            return true;
    return false;
}

// Follows blocks that only change registers, and lead to one other.
static uint32_t skip_registers(const struct optimised *function, uint32_t block)
{
    for (uint32_t i = 0; i < function->graph.count; i++) {
        const struct graph_block *at = block_at(function, block);
        if (at->nexts != 1 || at->leaks || optimised_count_effects(function, block) > 0)
            break;
        block = graph_next(&function->graph, block)[0];
    }
    return block;
}

// Whether two blocks lead to the same one, or to copies of the function's end.
static bool is_same_way(const struct optimised *function, uint32_t a, uint32_t b)
{
    a = skip_registers(function, a);
    b = skip_registers(function, b);
    return a == b || (guard_is_exit(function, a) && guard_is_exit(function, b));
}

// Whether a block leads to a loop, and nothing else, that goes on behind `away`: then the branch
// between both is the loop's first test.
static bool enters_loop(const struct optimised *function, uint32_t block, uint32_t away)
{
    const struct graph *graph = &function->graph;
    uint32_t at = block;
    for (uint32_t steps = 0; steps < graph->count; steps++) { // it may run in a circle
        bool loop = false, leaves = false;
        for (uint32_t b = 0; b < graph->count; b++) {
            const uint32_t *next = graph_next(graph, b);
            for (uint32_t i = 0; i < block_at(function, b)->nexts; i++) {
                loop |= next[i] == at && graph_is_above(graph, at, b);
                leaves |= graph_is_above(graph, at, b) && is_same_way(function, next[i], away);
            }
        }
        if (loop)
            return leaves;
        const struct graph_block *here = block_at(function, at);
        if (here->nexts != 1 || here->leaks || optimised_count_effects(function, at) > 0)
            return false;
        at = graph_next(graph, at)[0];
    }
    return false;
}

enum guard guard_read(const struct optimised *function, const struct chain *chain,
                      unsigned *ret_then)
{
    uint32_t meet = block_at(function, chain->tests[0])->meet;
    if (decides_loop(function, chain) || tells_cases(function, chain) ||
        enters_loop(function, chain->exits[0], chain->exits[1]) ||
        enters_loop(function, chain->exits[1], chain->exits[0]))
        return GUARD_UNKNOWN;
    if (is_if(function, chain, meet, ret_then))
        return GUARD_IF;
    if (is_early_exit(function, chain, meet, ret_then))
        return GUARD_EXIT;
    return is_else(function, chain, meet, ret_then) ? GUARD_ELSE : GUARD_UNKNOWN;
}
