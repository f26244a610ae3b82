// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions that are clauses joined by `and`, as most are, are checked without the stack machine.
// Any other condition becomes one clause that the machine computes.
#include "runtime/clauses.h"

#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/decide.h"
#include "runtime/evaluate.h"
#include "runtime/fork.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/stack.h"

// Bit i: the relation where i of `>=` and `>` hold.
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

static uint8_t relations_of(uint16_t op)
{
    switch (op) {
    case WIRE_OP_EQUAL:
        return EQUAL;
    case WIRE_OP_NOT_EQUAL:
        return LESS | GREATER;
    case WIRE_OP_LESS:
        return LESS;
    case WIRE_OP_LESS_EQUAL:
        return LESS | EQUAL;
    case WIRE_OP_GREATER:
        return GREATER;
    case WIRE_OP_GREATER_EQUAL:
        return GREATER | EQUAL;
    default:
        return 0;
    }
}

static bool is_simple(const struct wire_instruction *instruction)
{
    switch (instruction->op) {
    case WIRE_OP_ARGUMENT:
        return instruction->a < WIRE_ARGUMENTS;
    case WIRE_OP_STACK:
    case WIRE_OP_VARIABLE:
    case WIRE_OP_HOLDING_MUTEX:
    case WIRE_OP_COUNT:
    case WIRE_OP_PLUGIN:
        return true;
    default:
        return false;
    }
}

// The clause of a value. It is compared with 0 unless a comparison follows.
static struct clause clause_of(const struct wire_instruction *instruction)
{
    struct clause clause = {
        .op = (uint8_t)instruction->op, .relations = LESS | GREATER, .number = instruction->b};
    if (instruction->op == WIRE_OP_STACK)
        clause.looks_at_caller = plan_stack(instruction->b)->anchored != 0;
    if (instruction->op == WIRE_OP_ARGUMENT) {
        clause.number = instruction->a;
        clause.cut = argument_excess(instruction->b);
        clause.is_signed = (instruction->b & 1) != 0;
    }
    return clause;
}

// Without jumps: after other code has run, the processor mispredicts each of them.
static inline bool compares(const struct clause *clause, int64_t value)
{
    return (clause->relations >> ((value >= clause->value) + (value > clause->value)) & 1) != 0;
}

// Whether the condition is false if it comes to instruction `at` with a value of 0.
static bool ends_false(const struct wire_instruction *code, struct wire_span span, uint32_t at)
{
    while (at < span.count)
        if (code[at].op == WIRE_OP_BOOLEAN)
            at++;
        else if (code[at].op == WIRE_OP_JUMP_IF_FALSE)
            at = code[at].b - span.offset;
        else
            return false;
    return true;
}

// Splits a condition into clauses. 0: it is not made of clauses alone.
static uint32_t split(const struct wire_instruction *code, struct wire_span span,
                      struct clause *ret_clauses)
{
    uint32_t count = 0, at = 0;
    for (;;) {
        if (at == span.count || !is_simple(&code[at]))
            return 0;
        struct clause *clause = &ret_clauses[count++];
        *clause = clause_of(&code[at++]);
        if (at + 1 < span.count && code[at].op == WIRE_OP_CONSTANT) {
            clause->relations = relations_of(code[at + 1].op);
            clause->value = (int64_t)code[at].c;
            at += 2;
            if (clause->relations == 0)
                return 0;
        }
        if (clause->op == WIRE_OP_STACK) // which is 0 or 1
            clause->relations = (uint8_t)(compares(clause, 0) | compares(clause, 1) << 1);
        while (at < span.count && code[at].op == WIRE_OP_BOOLEAN)
            at++;
        if (at == span.count)
            return count;
        if (code[at].op != WIRE_OP_JUMP_IF_FALSE || !ends_false(code, span, at))
            return 0;
        at++;
    }
}

uint32_t clauses_of(const struct wire_rule *rule, struct clause *ret_clauses)
{
    struct wire_span span = rule->code;
    uint32_t count = split(runtime.code + span.offset, span, ret_clauses);
    if (count == 0) {
        ret_clauses[0] =
            (struct clause){.op = CLAUSE_CODE, .number = span.offset, .count = span.count};
        count = 1;
    }
    ret_clauses[count - 1].is_last = true;
    return count;
}

static inline int64_t argument(const struct call *call, const struct clause *clause)
{
    uint64_t value = call->frame->arguments[clause->number] << clause->cut;
    return clause->is_signed ? (int64_t)value >> clause->cut : (int64_t)(value >> clause->cut);
}

// The clauses that run foreign code or the stack machine. The call's path is given back before.
__attribute__((noinline, hot)) static bool clause_asks(const struct call *call, uint32_t rule,
                                                       const struct clause *clause)
{
    if (clause->op == CLAUSE_CODE)
        return evaluate(call, rule, (struct wire_span){clause->number, clause->count});
    call_path_leave(call);
    return compares(clause, plugin_evaluate(call, clause->number));
}

static inline bool clause_holds(const struct call *call, uint32_t rule, const struct clause *clause)
{
    int64_t value;
    if (clause->op == WIRE_OP_ARGUMENT)
        return compares(clause, argument(call, clause));
    if (clause->op == WIRE_OP_STACK)
        return (clause->relations >> (clause->looks_at_caller
                                          ? stack_matches(call, clause->number, rule)
                                          : stack_matches_frames(call, clause->number, rule)) &
                1) != 0;
    if (clause->op == WIRE_OP_VARIABLE)
        return variable_read(clause->number, call, rule, &value) && compares(clause, value);
    if (clause->op == WIRE_OP_HOLDING_MUTEX)
        return compares(clause, call->thread->mutexes);
    if (clause->op == WIRE_OP_COUNT)
        return compares(clause, (int64_t)call->occurrence);
    return clause_asks(call, rule, clause);
}

// Whether occurrence, caller and fork mode let the rule be checked.
__attribute__((hot)) static bool is_due(const struct call *call, const struct rule_check *check)
{
    return (!check->counted || decide_counts(&runtime.rules[check->rule], call->occurrence)) &&
           (check->site == WIRE_NONE || query_matches(check->site, call->frame->return_address)) &&
           (__builtin_expect(!fork_mode, 1) || fork_wants(check->rule));
}

__attribute__((hot)) const struct rule_check *clauses_choose(const struct call *call,
                                                             const struct rule_check *check,
                                                             const struct rule_check *end)
{
    const struct clause *clauses = (const struct clause *)end;
    bool forks = fork_mode;
    for (; check < end; check++) {
        if ((check->gated || forks) && !is_due(call, check))
            continue;
        const struct clause *clause = clauses + check->clauses;
        while (clause_holds(call, check->rule, clause))
            if (clause++->is_last)
                return check;
    }
    return end;
}

__attribute__((hot)) const struct site *clauses_choose_site(const struct call *call,
                                                            const struct site *site)
{
    for (; site != NULL; site = site->next) {
        // The table of sites goes by address: the site may be one of another function.
        if (site->pattern != call->function->pattern &&
            !decide_has_rule(call->function, site->rule))
            continue;
        if ((site->counted && !decide_counts(&runtime.rules[site->rule], call->occurrence)) ||
            (__builtin_expect(fork_mode, 0) && !fork_wants(site->rule)))
            continue;
        const struct clause *clause = site_clauses(site);
        while (clause_holds(call, site->rule, clause))
            if (clause++->is_last)
                return site;
    }
    return NULL;
}
