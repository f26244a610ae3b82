// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of optimised functions, as far as they are sure: calls whose results nobody uses (MFC), an
// `if` that guards a few statements (MIA, MIFS, MIEB), operands of && and || (MLAC, MLOC),
// statements in a row (MLPA). Variables are in registers, and statements are mixed there: no fault
// that needs those is found.
#include "mutate/binary/optimised.h"

#include <stdlib.h>
#include <string.h>

#define JUMP_SHORT 0xeb
#define JUMP_LONG  0xe9
#define NOP        0x90
#define RETURN     0xc3

// ---- what blocks do ----

// A call whose result nobody uses.
static bool is_statement_call(const struct body *body, uint32_t insn)
{
    return insn_is_call(insn_at(body, insn)) &&
           (body->live.items[insn - body->start] & RESULT) == 0;
}

// Whether an instruction changes memory outside of the frame, or calls a function for that.
static bool is_effect(const struct body *body, uint32_t insn)
{
    const struct isa_insn *what = insn_at(body, insn);
    if (insn_is_call(what))
        return is_statement_call(body, insn);
    if (what->kind == ISA_PUSH || (what->flags & ISA_MEMORY) == 0 || what->base == ISA_STACK)
        return false;
    return insn_is_store(what) || (what->kind == ISA_OTHER && (use_at(body, insn)->writes &
                                                               ~ISA_USE_FLAGS & ~ISA_USE_X87) == 0);
}

unsigned optimised_count_effects(const struct optimised *function, uint32_t block)
{
    unsigned count = 0;
    for (uint32_t i = block_at(function, block)->first; i < block_at(function, block)->end; i++)
        count += is_effect(body_of(function), i);
    return count;
}

// Whether a block goes to the function's end although the branch that leads to it does not do so
// by itself: by a `return`.
static bool has_return(const struct optimised *function, uint32_t block)
{
    const struct graph_block *at = block_at(function, block);
    uint32_t end = at->nexts == 0 && !at->stops                           ? NO_BLOCK
                   : at->nexts == 1 && guard_is_exit(function, at->falls) ? at->falls
                                                                          : block;
    for (uint32_t b = 0; b < function->graph.count && end != block; b++) {
        const struct graph_block *branch = block_at(function, b);
        uint32_t region = at->order;
        bool leads = branch->branch && (block_at(function, branch->taken)->order == region ||
                                        block_at(function, branch->falls)->order == region);
        if (!leads || branch->order == region)
            continue;
        uint32_t other =
            block_at(function, branch->taken)->order == region ? branch->falls : branch->taken;
        return other != end && !guard_is_exit(function, other);
    }
    return false;
}

// Counts the statements of each region: effects, and what branches. False if memory is short.
static bool count_statements(struct optimised *function)
{
    const struct body *body = body_of(function);
    function->statements = calloc(function->graph.count, sizeof *function->statements);
    function->joined = calloc(function->graph.count, sizeof *function->joined);
    if (function->statements == NULL || function->joined == NULL)
        return false;
    for (uint32_t b = 0; b < function->graph.count; b++)
        function->joined[b] = b;
    for (uint32_t b = 0; b < function->graph.count; b++)
        function->statements[block_at(function, b)->order] += optimised_count_effects(function, b) +
                                                              block_at(function, b)->branch +
                                                              has_return(function, b);
    // The function's own block ends with `return` and a value.
    function->statements[block_at(function, 0)->order] +=
        (body->code->results_read[body->function] & ISA_USE_GENERAL(ISA_RETURN)) != 0;
    return true;
}

static uint32_t region_of(const struct optimised *function, uint32_t block)
{
    uint32_t region = block_at(function, block)->order;
    while (function->joined[region] != region)
        region = function->joined[region];
    return region;
}

// Whether the block that a block is part of has other statements than `own`, which are executed
// whenever it is.
static bool has_company(const struct optimised *function, uint32_t block, unsigned own)
{
    const struct graph_block *at = block_at(function, block);
    return function->statements[region_of(function, block)] > own + at->branch;
}

// Notes that two blocks are in the same block of the source.
static void join(struct optimised *function, uint32_t block, uint32_t other)
{
    uint32_t to = region_of(function, block), from = region_of(function, other);
    if (to == from)
        return;
    function->joined[from] = to;
    function->statements[to] += function->statements[from];
}

// ---- calls ----

static void leave_out_call(const struct optimised *function, uint32_t block, uint32_t insn)
{
    unsigned char nops[BINARY_PATCH];
    const struct isa_insn *call = insn_at(body_of(function), insn);
    if (!has_company(function, block, 1) || block_at(function, block)->stops)
        return;
    memset(nops, NOP, sizeof nops);
    struct binary_fault *fault = finding_add(function->finding, MODEL_MFC, insn);
    if (fault != NULL && call->length <= sizeof nops)
        patch_code(function->finding, fault, insn, nops, call->length);
}

// A call at the end of a function that returns nothing, made by a jump.
static void leave_out_tail(const struct optimised *function, uint32_t block, uint32_t insn)
{
    const struct body *body = body_of(function);
    const struct isa_insn *jump = insn_at(body, insn);
    bool nothing = body->code->called[body->function] &&
                   (body->code->results_read[body->function] & RESULT) == 0;
    if (!nothing || !has_company(function, block, 0))
        return;
    unsigned char code[BINARY_PATCH];
    memset(code, NOP, sizeof code);
    code[0] = RETURN;
    struct binary_fault *fault = finding_add(function->finding, MODEL_MFC, insn);
    if (fault != NULL)
        patch_code(function->finding, fault, insn, code, jump->length);
}

static void find_calls(const struct optimised *function)
{
    const struct body *body = body_of(function);
    const struct flow_function *range = &body->code->image->functions.items[body->function];
    for (uint32_t b = 0; b < function->graph.count; b++) {
        const struct graph_block *block = block_at(function, b);
        const struct flow_block *flow = &body->code->image->blocks.items[range->first_block + b];
        for (uint32_t i = block->first; i < block->end; i++)
            if (is_statement_call(body, i))
                leave_out_call(function, b, i);
        if (flow->end == FLOW_TAIL && insn_at(body, block->end - 1)->kind == ISA_JUMP &&
            flow->callee != FLOW_NONE)
            leave_out_tail(function, b, block->end - 1);
    }
}

// ---- conditions ----

// Makes a branch lead to one block always.
static void force(const struct optimised *function, struct binary_fault *fault, uint32_t block,
                  uint32_t to)
{
    const struct graph_block *from = block_at(function, block);
    const struct body *body = body_of(function);
    const struct isa_insn *branch = insn_at(body, from->end - 1);
    unsigned char code[BINARY_PATCH];
    if (branch->length > sizeof code)
        return;
    memset(code, NOP, sizeof code);
    int64_t distance =
        (int64_t)insn_at(body, block_at(function, to)->first)->offset - (int64_t)branch->offset;
    int64_t near = distance - 2, far = distance - 5;
    if (to == from->falls) {
        // it goes on behind the nops
    } else if (near >= INT8_MIN && near <= INT8_MAX && branch->length >= 2) {
        code[0] = JUMP_SHORT;
        code[1] = (unsigned char)near;
    } else if (branch->length >= 5) {
        code[0] = JUMP_LONG;
        memcpy(code + 1, &far, 4);
    } else {
        return;
    }
    patch_code(function->finding, fault, from->end - 1, code, branch->length);
}

// Makes a condition of several tests lead to one block always, behind its first test.
static void force_chain(const struct optimised *function, struct binary_fault *fault,
                        const struct chain *chain, uint32_t to)
{
    const struct body *body = body_of(function);
    uint64_t made = 0; // what the other tests compute must not be used behind them
    for (unsigned i = 0; i < chain->inner_count; i++)
        for (uint32_t insn = block_at(function, chain->inner[i])->first;
             insn < block_at(function, chain->inner[i])->end; insn++)
            made |= body_writes(body, insn);
    if ((made & body->live_in.items[to] & ~NOT_TEMPORARY) == 0)
        force(function, fault, chain->tests[0], to);
}

static void find_clauses(const struct optimised *function, const struct chain *chain, uint32_t then,
                         uint32_t otherwise)
{
    bool all_and = true, all_or = true;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct graph_block *test = block_at(function, chain->tests[i]);
        bool leaves = test->taken == otherwise || test->falls == otherwise;
        bool enters = test->taken == then || test->falls == then;
        all_and &= leaves;
        all_or &= enters;
    }
    if (chain->count < 2 || all_and == all_or)
        return;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct graph_block *test = block_at(function, chain->tests[i]);
        uint32_t away = all_and ? otherwise : then;
        struct binary_fault *fault =
            finding_add(function->finding, all_and ? MODEL_MLAC : MODEL_MLOC, test->end - 1);
        if (fault != NULL)
            force(function, fault, chain->tests[i],
                  test->taken == away ? test->falls : test->taken);
    }
}

static void add_if(const struct optimised *function, const struct chain *chain, uint32_t then,
                   uint32_t otherwise)
{
    uint32_t block = chain->tests[0], insn = block_at(function, block)->end - 1;
    struct binary_fault *fault = finding_add(function->finding, MODEL_MIA, insn);
    if (fault != NULL)
        force_chain(function, fault, chain, then);
    // A function has seldom nothing but one `if`.
    if (region_of(function, block) == region_of(function, 0) || has_company(function, block, 0)) {
        fault = finding_add(function->finding, MODEL_MIFS, insn);
        if (fault != NULL)
            force_chain(function, fault, chain, otherwise);
    }
    find_clauses(function, chain, then, otherwise);
}

// ---- parts of an algorithm ----

// The next statement behind an instruction that is executed whenever that is; UINT32_MAX if there
// is none. *block: where.
static uint32_t next_effect(const struct optimised *function, uint32_t *block, uint32_t insn)
{
    for (uint32_t b = *block;;) {
        const struct graph_block *at = block_at(function, b);
        for (uint32_t i = insn; i < at->end; i++)
            if (is_effect(body_of(function), i)) {
                *block = b;
                return i;
            }
        if (at->nexts != 1 || at->leaks || block_at(function, at->falls)->before != 1 ||
            block_at(function, at->falls)->first != at->end)
            return UINT32_MAX;
        b = at->falls;
        insn = block_at(function, b)->first;
    }
}

// Leaves out what stands from `first` to `end`, with as much of what is before it as nothing else
// needs. `from`: what is before that belongs to other statements.
static void leave_out_range(const struct optimised *function, struct binary_fault *fault,
                            uint32_t from, uint32_t first, uint32_t end)
{
    const struct body *body = body_of(function);
    if (end >= body->end)
        return;
    uint64_t stack = ISA_USE_GENERAL(ISA_STACK);
    uint64_t needed = body->live.items[end - 1 - body->start] & ~stack;
    for (uint32_t i = from; i < end; i++) {
        uint64_t written = body_writes(body, i);
        bool stays = (written & (needed | stack)) != 0;
        if (stays && i >= first)
            return;
        from = stays ? i + 1 : from;
    }
    unsigned char code[BINARY_PATCH];
    memset(code, NOP, sizeof code);
    int64_t distance = (int64_t)(insn_at(body, end)->offset - insn_at(body, from)->offset);
    int64_t near = distance - 2, far = distance - 5;
    size_t size = 0, wanted = near <= INT8_MAX ? 2 : 5;
    for (uint32_t i = from; i < end && size < wanted; i++)
        size += insn_at(body, i)->length;
    code[0] = wanted == 2 ? JUMP_SHORT : JUMP_LONG;
    memcpy(code + 1, wanted == 2 ? &near : &far, wanted - 1);
    if (size >= wanted && size <= sizeof code)
        patch_code(function->finding, fault, from, code, size);
}

static bool is_wide(const struct isa_insn *insn)
{
    return insn_is_store(insn) ? insn->width >= 16 : insn->kind == ISA_OTHER && insn->width >= 16;
}

// Whether two effects are made of one statement: parts of a structure are copied, or the statement
// of a loop is executed for several elements at once.
static bool is_same_copy(const struct optimised *function, uint32_t block, uint32_t first,
                         uint32_t second)
{
    const struct isa_insn *a = insn_at(body_of(function), first);
    const struct isa_insn *b = insn_at(body_of(function), second);
    if (insn_is_call(a) || insn_is_call(b))
        return false;
    if (is_wide(a) && is_wide(b))
        return true;
    bool loop = false;
    const uint32_t *next = graph_next(&function->graph, block);
    for (uint32_t i = 0; i < block_at(function, block)->nexts; i++)
        loop |= graph_is_above(&function->graph, next[i], block);
    int64_t distance = b->displacement - a->displacement;
    return loop && a->width == b->width && a->base == b->base && a->index == b->index &&
           (distance == a->width || distance == -a->width);
}

// Two statements, one after the other.
static void find_parts(const struct optimised *function)
{
    for (uint32_t b = 0; b < function->graph.count; b++) {
        uint32_t before = block_at(function, b)->first;
        for (uint32_t i = before; i < block_at(function, b)->end; i++) {
            if (!is_effect(body_of(function), i))
                continue;
            uint32_t block = b, second = next_effect(function, &block, i + 1), from = before;
            before = i + 1;
            if (second == UINT32_MAX || !has_company(function, b, 2))
                continue;
            if (is_same_copy(function, block, i, second))
                continue;
            struct binary_fault *fault = finding_add(function->finding, MODEL_MLPA, i);
            if (fault != NULL)
                leave_out_range(function, fault, from, i, second + 1);
        }
    }
}

static void add_else(const struct optimised *function, const struct chain *chain, uint32_t then,
                     uint32_t otherwise)
{
    uint32_t insn = block_at(function, chain->tests[0])->end - 1;
    struct binary_fault *fault = finding_add(function->finding, MODEL_MIEB, insn);
    if (fault != NULL)
        force_chain(function, fault, chain, otherwise);
    find_clauses(function, chain, then, otherwise);
}

// Calls `each` for every condition.
static void each_condition(struct optimised *function,
                           void (*each)(struct optimised *, const struct chain *))
{
    uint64_t seen[(1024 + 63) / 64] = {0}; // tests of conditions that were looked at
    for (uint32_t b = 0; b < function->graph.count; b++) {
        struct chain chain;
        if (!block_at(function, b)->branch || (seen[b / 64] >> b % 64 & 1) != 0)
            continue;
        guard_read_chain(function, b, &chain);
        for (unsigned i = 0; i < chain.count; i++)
            seen[chain.tests[i] / 64] |= 1ull << chain.tests[i] % 64;
        each(function, &chain);
    }
}

// What is behind an early exit belongs to the same block of the source.
static void join_exit(struct optimised *function, const struct chain *chain)
{
    unsigned then;
    if (guard_read(function, chain, &then) == GUARD_EXIT)
        join(function, chain->tests[0], chain->exits[!then]);
}

static void find_if(struct optimised *function, const struct chain *chain)
{
    unsigned then;
    enum guard guard = guard_read(function, chain, &then);
    if (guard == GUARD_ELSE)
        add_else(function, chain, chain->exits[then], chain->exits[!then]);
    else if (guard != GUARD_UNKNOWN)
        add_if(function, chain, chain->exits[then], chain->exits[!then]);
}

// Code that every program is linked with, to start and end it: it knows symbols that others do not.
static bool is_start_up(const struct body *body)
{
    static const char *const names[] = {"__gmon_start__", "__cxa_finalize", "__libc_start_main",
                                        "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"};
    for (uint32_t i = body->start; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        uint32_t callee = FLOW_NONE;
        const char *name = NULL;
        if (insn->kind == ISA_CALL)
            callee = flow_callee_at(body->code->image, (uint64_t)insn->value);
        if (callee != FLOW_NONE && flow_callee_is_import(callee))
            name = body->code->image->imports.items[flow_callee_import(callee)].name;
        if ((insn->flags & ISA_MEMORY) != 0 && insn->base == ISA_PC) {
            const struct flow_slot *slot =
                flow_slot_at(body->code->image, (uint64_t)insn->displacement);
            name = slot != NULL ? slot->symbol : name;
        }
        for (size_t j = 0; name != NULL && j < sizeof names / sizeof *names; j++)
            if (strcmp(name, names[j]) == 0)
                return true;
    }
    return false;
}

bool find_optimised(struct finding *finding)
{
    struct optimised function = {.finding = finding};
    if (is_start_up(&finding->body))
        return false;
    if (!graph_read(&finding->body, &function.graph))
        return false;
    if (count_statements(&function)) {
        each_condition(&function, join_exit);
        find_calls(&function);
        each_condition(&function, find_if);
        find_parts(&function);
    } else {
        finding->body.failed = true;
    }
    free(function.statements);
    free(function.joined);
    graph_deinit(&function.graph);
    return true;
}
