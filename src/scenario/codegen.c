// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles expression trees to stack code. The code has forward jumps only, so the stack depth at
// every instruction is known here, and wire_plan_check() checks it again.
#include "scenario/codegen.h"

#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <stdarg.h>

static struct error *compile(struct codegen *codegen, const struct expression *node, bool top);

struct error *codegen_error(const struct codegen *codegen, const struct expression *node,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    _cleanup_error_ struct error *what = error_new_va(format, args);
    va_end(args);
    return source_error(codegen->source, node->start, "%s", error_message(what));
}

struct error *codegen_emit(struct codegen *codegen, const struct expression *node, unsigned pops,
                           unsigned pushes, struct wire_instruction instruction)
{
    struct scenario *scenario = codegen->scenario;
    if (scenario->code.count - codegen->start >= SCENARIO_CODE_LIMIT)
        return codegen_error(codegen, node,
                             "this condition is too large (more than %u instructions)",
                             SCENARIO_CODE_LIMIT);
    codegen->depth = codegen->depth - pops + pushes;
    if (codegen->depth > WIRE_STACK_DEPTH)
        return codegen_error(codegen, node,
                             "this condition is too complex: it holds more than %d values at once",
                             WIRE_STACK_DEPTH);
    struct wire_instruction *slot = ARRAY_ADD(&scenario->code);
    if (slot == NULL)
        return error_no_memory();
    *slot = instruction;
    return NULL;
}

struct pattern *codegen_pattern(const struct codegen *codegen)
{
    return &codegen->scenario->patterns.items[codegen->pattern];
}

void codegen_note_string(struct codegen *codegen, unsigned number)
{
    if (number <= WIRE_ARGUMENTS)
        codegen_pattern(codegen)->string_arguments |= 1u << (number - 1);
}

struct error *codegen_argument(struct codegen *codegen, const struct expression *node,
                               unsigned number, enum wire_argument_type type)
{
    struct pattern *pattern = codegen_pattern(codegen);
    if (number <= WIRE_ARGUMENTS && number > pattern->arguments)
        pattern->arguments = number;
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_ARGUMENT, .a = (uint16_t)(number - 1), .b = type});
}

static struct error *emit_op(struct codegen *codegen, const struct expression *node,
                             enum wire_op op, unsigned pops)
{
    return codegen_emit(codegen, node, pops, 1, (struct wire_instruction){.op = (uint16_t)op});
}

static struct error *emit_constant(struct codegen *codegen, const struct expression *node,
                                   int64_t value)
{
    return codegen_emit(codegen, node, 0, 1,
                        (struct wire_instruction){.op = WIRE_OP_CONSTANT, .c = (uint64_t)value});
}

// Emits a jump whose target is not known yet. Such jumps are chained through field b, as index + 1;
// 0 ends the chain.
static struct error *emit_jump(struct codegen *codegen, const struct expression *node,
                               enum wire_op op, size_t *chain)
{
    size_t here = codegen->scenario->code.count;
    TRY(codegen_emit(codegen, node, 1, 0,
                     (struct wire_instruction){.op = (uint16_t)op, .b = (uint32_t)*chain}));
    *chain = here + 1;
    return NULL;
}

static void land_jumps(struct codegen *codegen, size_t chain)
{
    size_t target = codegen->scenario->code.count;
    while (chain != 0) {
        struct wire_instruction *jump = &codegen->scenario->code.items[chain - 1];
        chain = jump->b;
        jump->b = (uint32_t)target;
    }
}

static bool is_proven(const struct codegen *codegen, const struct expression *node)
{
    while (node->kind == EXPRESSION_REFERENCE)
        node = node->left;
    return node == codegen->proven;
}

// Compiles a chain of `and`s or of `or`s: every term but the last may jump to the common end.
// Leaves out a term that the gates have proven.
static struct error *compile_chain(struct codegen *codegen, const struct expression *node, bool top,
                                   size_t *jumps)
{
    bool is_and = node->kind == EXPRESSION_AND;
    const struct expression *terms[2] = {node->left, node->right};
    if (is_and && is_proven(codegen, terms[0]))
        return terms[1]->kind == node->kind ? compile_chain(codegen, terms[1], top, jumps)
                                            : compile(codegen, terms[1], top);
    if (is_and && is_proven(codegen, terms[1]))
        return terms[0]->kind == node->kind ? compile_chain(codegen, terms[0], top, jumps)
                                            : compile(codegen, terms[0], top);
    for (size_t i = 0; i < 2; i++) {
        if (terms[i]->kind == node->kind)
            TRY(compile_chain(codegen, terms[i], top, jumps));
        else
            TRY(compile(codegen, terms[i], top && is_and));
        if (i == 0)
            TRY(emit_jump(codegen, node, is_and ? WIRE_OP_JUMP_IF_FALSE : WIRE_OP_JUMP_IF_TRUE,
                          jumps));
    }
    return NULL;
}

// Compiles an operand. `and` and `or` may leave any number for true, which becomes 1 here.
static struct error *compile_value(struct codegen *codegen, const struct expression *node)
{
    TRY(compile(codegen, node, false));
    const struct expression *inner = node;
    while (inner->kind == EXPRESSION_REFERENCE)
        inner = inner->left;
    if (inner->kind == EXPRESSION_AND || inner->kind == EXPRESSION_OR)
        return emit_op(codegen, node, WIRE_OP_BOOLEAN, 1);
    return NULL;
}

static struct error *compile_pair(struct codegen *codegen, const struct expression *node,
                                  const struct expression *left, const struct expression *right,
                                  enum wire_op op)
{
    TRY(compile_value(codegen, left));
    TRY(compile_value(codegen, right));
    return emit_op(codegen, node, op, 2);
}

// Compiles `m in A..B`, where m >= 1, to one comparison that evaluates m once. With n numbers in
// the range and k * n >= A, nothing in (m + k * n - A) / n == k is negative.
static struct error *compile_match_range(struct codegen *codegen, const struct expression *node)
{
    const int64_t most = (int64_t)1 << 60; // no counter gets that far
    int64_t first = node->right->number;
    first = first < 1 ? 1 : first < most ? first : most;
    TRY(compile(codegen, node->left, false));
    if (node->last == NULL) {
        TRY(emit_constant(codegen, node, first));
        return emit_op(codegen, node, WIRE_OP_GREATER_EQUAL, 2);
    }
    int64_t last = node->last->number < most ? node->last->number : most;
    int64_t count = last < first ? 1 : last - first + 1, k = (first + count - 1) / count;
    TRY(emit_constant(codegen, node, k * count - first));
    TRY(emit_op(codegen, node, WIRE_OP_ADD, 2));
    TRY(emit_constant(codegen, node, count));
    TRY(emit_op(codegen, node, WIRE_OP_DIVIDE, 2));
    TRY(emit_constant(codegen, node, last < first ? -1 : k));
    return emit_op(codegen, node, WIRE_OP_EQUAL, 2);
}

static struct error *compile_range(struct codegen *codegen, const struct expression *node)
{
    size_t jumps = 0;
    if (node->left->kind == EXPRESSION_TRIGGER && node->left->trigger->is_match)
        return compile_match_range(codegen, node);
    TRY(compile_pair(codegen, node, node->left, node->right, WIRE_OP_GREATER_EQUAL));
    if (node->last != NULL) {
        TRY(emit_jump(codegen, node, WIRE_OP_JUMP_IF_FALSE, &jumps));
        TRY(compile_pair(codegen, node, node->left, node->last, WIRE_OP_LESS_EQUAL));
    }
    if (node->step != NULL && node->step->number != 1) {
        TRY(emit_jump(codegen, node, WIRE_OP_JUMP_IF_FALSE, &jumps));
        TRY(compile_pair(codegen, node, node->left, node->right, WIRE_OP_SUBTRACT));
        TRY(emit_constant(codegen, node, node->step->number));
        TRY(emit_op(codegen, node, WIRE_OP_REMAINDER, 2));
        TRY(emit_op(codegen, node, WIRE_OP_NOT, 1));
    }
    land_jumps(codegen, jumps);
    return NULL;
}

static struct error *compile_trigger(struct codegen *codegen, const struct expression *node,
                                     bool top)
{
    if (node->trigger->conjunct_only && !top)
        return codegen_error(codegen, node,
                             "'%s' can only be joined to the rest of the condition by 'and'",
                             node->trigger->about.name);
    return node->trigger->compile(codegen, node);
}

static struct error *compile_reference(struct codegen *codegen, const struct expression *node,
                                       bool top)
{
    const struct source *outer = codegen->source;
    codegen->source = node->source;
    TRY(compile(codegen, node->left, top));
    codegen->source = outer;
    return NULL;
}

static struct error *compile(struct codegen *codegen, const struct expression *node, bool top)
{
    size_t jumps = 0;
    switch (node->kind) {
    case EXPRESSION_CONSTANT:
        return emit_constant(codegen, node, node->number);
    case EXPRESSION_TEXT:
        return codegen_error(codegen, node,
                             "a text can only stand beside ==, !=, ~ or !~: path(1) ~ \"/etc/*\"");
    case EXPRESSION_UNARY:
        TRY(compile_value(codegen, node->left));
        return emit_op(codegen, node, node->op, 1);
    case EXPRESSION_NOT:
        TRY(compile(codegen, node->left, false));
        return emit_op(codegen, node, WIRE_OP_NOT, 1);
    case EXPRESSION_BINARY:
        return compile_pair(codegen, node, node->left, node->right, node->op);
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        TRY(compile_chain(codegen, node, top && node->kind == EXPRESSION_AND, &jumps));
        land_jumps(codegen, jumps);
        return NULL;
    case EXPRESSION_RANGE:
        return compile_range(codegen, node);
    case EXPRESSION_MATCH:
        return node->left->trigger->match(codegen, node->left, (enum wire_match)node->number,
                                          node->text);
    case EXPRESSION_TRIGGER:
        return compile_trigger(codegen, node, top);
    case EXPRESSION_REFERENCE:
        return compile_reference(codegen, node, top);
    }
    return NULL;
}

static bool same_instruction(const struct wire_instruction *a, const struct wire_instruction *b,
                             uint32_t distance)
{
    bool jumps = a->op == WIRE_OP_JUMP_IF_FALSE || a->op == WIRE_OP_JUMP_IF_TRUE;
    return a->op == b->op && a->a == b->a && a->b == b->b - (jumps ? distance : 0) && a->c == b->c;
}

// Lets a rule share the code of the rule before it if both are equal. Thousands of rules often
// differ only in their gates, and shared code stays in the processor's cache.
static void share_code(struct scenario *scenario, struct wire_rule *wire)
{
    if (scenario->rules.count == 0 || wire->code.count == 0)
        return;
    struct wire_span before = scenario->rules.items[scenario->rules.count - 1].wire.code;
    const struct wire_instruction *code = scenario->code.items;
    if (before.count != wire->code.count)
        return;
    for (uint32_t i = 0; i < before.count; i++)
        if (!same_instruction(&code[before.offset + i], &code[wire->code.offset + i],
                              wire->code.offset - before.offset))
            return;
    scenario->code.count = wire->code.offset;
    wire->code = before;
}

struct error *codegen_rule(struct scenario *scenario, uint32_t rule, uint32_t pattern,
                           const struct source *source, const struct expression *condition,
                           struct wire_rule *wire)
{
    struct codegen codegen = {.scenario = scenario,
                              .source = source,
                              .rule = rule,
                              .pattern = pattern,
                              .start = scenario->code.count};
    wire->site = WIRE_NONE;
    wire->count_first = 1;
    wire->count_last = UINT64_MAX;
    wire->count_step = 1;
    wire->code = (struct wire_span){(uint32_t)codegen.start, 0};
    if (condition == NULL)
        return NULL;
    if (condition->kind == EXPRESSION_CONSTANT && condition->left == NULL)
        return codegen_error(&codegen, condition,
                             "a number alone is no condition; to count calls write count == 3");
    gate_rule(scenario, condition, wire, &codegen.proven);
    if (!is_proven(&codegen, condition))
        TRY(compile(&codegen, condition, true));
    wire->code.count = (uint32_t)(scenario->code.count - codegen.start);
    wire->once = codegen.once;
    wire->new_stack = codegen.new_stack;
    share_code(scenario, wire);
    return NULL;
}
