// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of conditions: an `if` that is missing (MIA, MIFS, MIEB), an operand of && or || that is
// missing (MLAC, MLOC).
#include "mutate/source/look.h"

#include <string.h>

// ---- if ----

// Counts statements, those of inner blocks, too. Labels and braces are none.
static unsigned count_statements(struct tree_node *node)
{
    node = tree_unlabelled(node);
    unsigned count = 0;
    switch (node->kind) {
    case CXCursor_NullStmt:
        return 0;
    case CXCursor_CompoundStmt:
        for (struct tree_node *child = node->first; child != NULL; child = child->next)
            count += count_statements(child);
        return count;
    case CXCursor_IfStmt:
        for (struct tree_node *child = node->first->next; child != NULL; child = child->next)
            count += count_statements(child);
        return count + 1;
    case CXCursor_SwitchStmt:
        return count_statements(node->last) + 1;
    default:
        return 1;
    }
}

static bool has_loop(struct tree_node *outer)
{
    for (struct tree_node *node = outer; node != NULL && tree_is_inside(node, outer);
         node = tree_following(node))
        if (tree_is_loop(node->kind))
            return true;
    return false;
}

// C09
static bool is_small(struct tree_node *block)
{
    unsigned count = count_statements(block);
    return count > 0 && count <= MODEL_MOST_STATEMENTS && !has_loop(block);
}

// Whether a semicolon stands behind an expression.
static bool is_ended(struct look *look, struct tree_node *expression)
{
    size_t size;
    const struct tree_place *end = tree_end(expression);
    const char *text = look_text(look, end->handle, &size);
    size_t at = end->offset;
    while (at < size && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    return at < size && text[at] == ';';
}

// Whether it is an ordinary `if`: C++ has others, which declare a variable, do something before
// the condition, or are decided by the compiler.
static bool is_ordinary(struct look *look, struct tree_node *statement)
{
    struct tree_node *condition = statement->first;
    if (statement->children < 2 || statement->children > 3 ||
        condition->kind < CXCursor_FirstExpr || condition->kind > CXCursor_LastExpr ||
        is_ended(look, condition))
        return false;
    size_t size;
    const struct tree_place *begin = tree_begin(statement);
    const char *text = look_text(look, begin->handle, &size);
    size_t at = begin->offset + 2;
    while (at < size && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    return begin->macro || (at < size && text[at] == '(');
}

static struct source_fault *leave_out_if(struct look *look, struct tree_node *statement,
                                         enum model_kind kind, enum source_how how)
{
    struct tree_node *condition = statement->first;
    struct source_fault *fault =
        look_add(look, kind, how, tree_begin(condition), tree_end(condition));
    if (fault == NULL)
        return NULL;
    fault->at = tree_begin(statement)->at;
    if (tree_begin(statement)->macro)
        fault->reason = SOURCE_MACRO;
    look_anchor(look, fault, statement, statement);
    return fault;
}

void rules_if(struct look *look, struct tree_node *statement)
{
    if (!is_ordinary(look, statement))
        return;
    struct tree_node *condition = statement->first, *then = condition->next, *other = then->next;
    rules_condition(look, condition);
    if (!is_small(then))
        return;
    struct source_fault *fault;
    if (other != NULL) {
        fault = leave_out_if(look, statement, MODEL_MIEB, SOURCE_ELSE);
        if (fault != NULL)
            look_edit(look, fault, tree_begin(statement), tree_begin(other), "");
        return;
    }
    fault = leave_out_if(look, statement, MODEL_MIA, SOURCE_THEN);
    if (fault != NULL)
        look_edit(look, fault, tree_begin(statement), tree_begin(then), "");
    fault = has_company(statement) ? leave_out_if(look, statement, MODEL_MIFS, SOURCE_PAST) : NULL;
    if (fault != NULL) {
        // The last statement's own semicolon stays where it is.
        bool block = tree_unlabelled(then)->kind == CXCursor_CompoundStmt;
        struct tree_place end = look_end(look, statement, false);
        look_edit(look, fault, tree_begin(statement), &end, block ? ";" : "");
    }
}

// ---- && and || ----

static bool is_joined(const struct tree_node *node, enum CXBinaryOperatorKind sign)
{
    return node->kind == CXCursor_BinaryOperator && node->children == 2 &&
           clang.getCursorBinaryOperatorKind(node->cursor) == sign;
}

// Whether the last test of a condition is true when the condition is false.
static bool is_negated(struct tree_node *node)
{
    bool negated = false;
    for (;;) {
        node = tree_plain(node);
        if (is_joined(node, CXBinaryOperator_LAnd) || is_joined(node, CXBinaryOperator_LOr) ||
            node->kind == CXCursor_ConditionalOperator) {
            node = node->last;
        } else if (node->kind == CXCursor_UnaryOperator &&
                   clang.getCursorUnaryOperatorKind(node->cursor) == CXUnaryOperator_LNot) {
            negated = !negated;
            node = node->first;
        } else {
            return negated;
        }
    }
}

// `before` and `after`: the operands beside it, or NULL.
static void leave_out_clause(struct look *look, struct tree_node *chain, struct tree_node *clause,
                             struct tree_node *before, struct tree_node *after, bool or)
{
    struct source_fault *fault = look_add(look, or ? MODEL_MLOC : MODEL_MLAC, SOURCE_CLAUSE,
                                          tree_begin(clause), tree_end(clause));
    if (fault == NULL)
        return;
    fault->flags = (or ? SOURCE_OR : 0u) | (is_negated(clause) ? SOURCE_NEGATED : 0u);
    if ((before != NULL && tree_end(before)->offset > tree_begin(clause)->offset) ||
        (after != NULL && tree_end(clause)->offset > tree_begin(after)->offset))
        fault->reason = SOURCE_MACRO;
    look_anchor(look, fault, chain, chain);
    struct tree_place end = look_end(look, clause, true);
    struct tree_place sign;
    if (before == NULL)
        look_edit(look, fault, tree_begin(clause), tree_begin(after), "");
    else if (fault->placed == SOURCE_IN_TEXT)
        look_edit(look, fault, tree_end(before), &end, "");
    else if (look_find_operator(look, before, clause, or ? "||" : "&&", &sign))
        look_edit(look, fault, &sign, &end, "");
}

// The operands of a chain of the same operator, left to right: the chain leans to the left.
static void look_at_chain(struct look *look, struct tree_node *chain,
                          enum CXBinaryOperatorKind sign, struct tree_node *after)
{
    bool or = sign == CXBinaryOperator_LOr;
    struct tree_node *left = chain->first, *right = chain->last;
    struct tree_node *inner = tree_without_conversions(left);
    bool longer = is_joined(inner, sign);
    leave_out_clause(look, chain, right, longer ? inner->last : left, after, or);
    rules_condition(look, right);
    if (longer) {
        look_at_chain(look, inner, sign, right);
        return;
    }
    leave_out_clause(look, chain, left, NULL, right, or);
    rules_condition(look, left);
}

void rules_condition(struct look *look, struct tree_node *condition)
{
    condition = tree_plain(condition);
    while (condition->kind == CXCursor_UnaryOperator &&
           clang.getCursorUnaryOperatorKind(condition->cursor) == CXUnaryOperator_LNot)
        condition = tree_plain(condition->first);
    if (is_joined(condition, CXBinaryOperator_LAnd))
        look_at_chain(look, condition, CXBinaryOperator_LAnd, NULL);
    else if (is_joined(condition, CXBinaryOperator_LOr))
        look_at_chain(look, condition, CXBinaryOperator_LOr, NULL);
}
