// SPDX-License-Identifier: GPL-3.0-or-later
// Derives a rule's gates from the top-level `and`s of its condition: what must hold for the
// condition to be true at all. With them the runtime skips most calls after two comparisons. A gate
// never rejects a call that the condition accepts. Terms to the right of a trigger that must see
// every call cannot become gates, since they would hide calls from it.
#include "scenario/codegen.h"
#include "scenario/trigger-kind.h"

static const struct expression *follow(const struct expression *node)
{
    while (node->kind == EXPRESSION_REFERENCE)
        node = node->left;
    return node;
}

static bool is_count(const struct expression *node)
{
    node = follow(node);
    return node->kind == EXPRESSION_TRIGGER && node->trigger->is_count;
}

static bool is_constant(const struct expression *node)
{
    return node != NULL && node->kind == EXPRESSION_CONSTANT;
}

static void close_gate(struct wire_rule *wire)
{
    wire->count_first = 1;
    wire->count_last = 0;
}

static void at_least(struct wire_rule *wire, int64_t low)
{
    if (low <= 0 || (uint64_t)low <= wire->count_first)
        return;
    uint64_t missing = (uint64_t)low - wire->count_first;
    uint64_t steps = (missing + wire->count_step - 1) / wire->count_step;
    wire->count_first += steps * wire->count_step;
}

static void at_most(struct wire_rule *wire, int64_t high)
{
    if (high <= 0)
        close_gate(wire);
    else if ((uint64_t)high < wire->count_last)
        wire->count_last = (uint64_t)high;
}

// Lets only numbers pass that leave `remainder` when divided by `step`. A rule has room for one
// step; the condition checks a second one.
static void in_steps(struct wire_rule *wire, uint64_t remainder, uint64_t step)
{
    if (wire->count_step != 1 || step == 1)
        return;
    uint64_t behind = (wire->count_first % step + step - remainder) % step;
    wire->count_first += behind != 0 ? step - behind : 0;
    wire->count_step = step;
}

static enum wire_op mirrored(enum wire_op op)
{
    switch (op) {
    case WIRE_OP_LESS:
        return WIRE_OP_GREATER;
    case WIRE_OP_LESS_EQUAL:
        return WIRE_OP_GREATER_EQUAL;
    case WIRE_OP_GREATER:
        return WIRE_OP_LESS;
    case WIRE_OP_GREATER_EQUAL:
        return WIRE_OP_LESS_EQUAL;
    default:
        return op;
    }
}

static void gate_count(struct wire_rule *wire, enum wire_op op, int64_t value)
{
    switch (op) {
    case WIRE_OP_EQUAL:
        at_least(wire, value);
        at_most(wire, value);
        break;
    case WIRE_OP_LESS:
        at_most(wire, value > INT64_MIN ? value - 1 : value);
        break;
    case WIRE_OP_LESS_EQUAL:
        at_most(wire, value);
        break;
    case WIRE_OP_GREATER:
        if (value < INT64_MAX)
            at_least(wire, value + 1);
        break;
    case WIRE_OP_GREATER_EQUAL:
        at_least(wire, value);
        break;
    default:
        break;
    }
}

static void gate_comparison(struct wire_rule *wire, const struct expression *node)
{
    const struct expression *left = follow(node->left), *right = follow(node->right);
    enum wire_op op = node->op;
    if (is_constant(left)) {
        const struct expression *swap = left;
        left = right;
        right = swap;
        op = mirrored(op);
    }
    if (!is_constant(right))
        return;
    if (is_count(left)) {
        gate_count(wire, op, right->number);
    } else if (op == WIRE_OP_EQUAL && left->kind == EXPRESSION_BINARY &&
               left->op == WIRE_OP_REMAINDER && is_count(left->left) && is_constant(left->right) &&
               left->right->number > 0) {
        if (right->number < 0 || right->number >= left->right->number)
            close_gate(wire);
        else
            in_steps(wire, (uint64_t)right->number, (uint64_t)left->right->number);
    }
}

static void gate_range(struct wire_rule *wire, const struct expression *node)
{
    if (!is_count(node->left) || !is_constant(node->right))
        return;
    int64_t first = node->right->number;
    at_least(wire, first);
    if (is_constant(node->last))
        at_most(wire, node->last->number);
    if (node->step != NULL && first >= 0)
        in_steps(wire, (uint64_t)first % (uint64_t)node->step->number,
                 (uint64_t)node->step->number);
}

static void gate_site(const struct scenario *scenario, const struct expression *node,
                      struct wire_rule *wire, const struct expression **ret_proven)
{
    wire->site = node->trigger->site(scenario, node);
    if (wire->site == WIRE_NONE)
        return;
    wire->site_exact = scenario->queries.items[wire->site].kind == SCENARIO_QUERY_SITE;
    // With one frame, the gate checks everything that the term checks.
    if (scenario->stacks.items[node->number].items.count == 1)
        *ret_proven = node;
}

// Returns whether terms further right may still become gates.
static bool gate_term(const struct scenario *scenario, const struct expression *node,
                      struct wire_rule *wire, const struct expression **ret_proven)
{
    node = follow(node);
    if (node->kind == EXPRESSION_AND)
        return gate_term(scenario, node->left, wire, ret_proven) &&
               gate_term(scenario, node->right, wire, ret_proven);
    if (node->sees_calls)
        return false;
    if (node->kind == EXPRESSION_BINARY)
        gate_comparison(wire, node);
    else if (node->kind == EXPRESSION_RANGE)
        gate_range(wire, node);
    else if (node->kind == EXPRESSION_TRIGGER && node->trigger->site != NULL &&
             wire->site == WIRE_NONE)
        gate_site(scenario, node, wire, ret_proven);
    return true;
}

void gate_rule(const struct scenario *scenario, const struct expression *condition,
               struct wire_rule *wire, const struct expression **ret_proven)
{
    *ret_proven = NULL;
    gate_term(scenario, condition, wire, ret_proven);
}
