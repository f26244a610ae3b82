// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of whole statements: calls and assignments that are missing (MFC, MVIV, MVAV, MVAE),
// wrong values (WVAV), and parts of an algorithm that are missing (MLPA).
#include "mutate/source/look.h"

#include <string.h>

// A statement that is an expression: a call, an assignment, an increment.
enum action {
    ACTION_NONE,
    ACTION_CALL,
    ACTION_ASSIGNMENT,
};

// ---- blocks ----

// Whether a child of a block does something. A declaration does if it has an initial value.
static bool does_something(struct tree_node *child)
{
    child = tree_unlabelled(child);
    if (child->kind == CXCursor_NullStmt)
        return false;
    if (child->kind != CXCursor_DeclStmt)
        return true;
    for (struct tree_node *variable = child->first; variable != NULL; variable = variable->next)
        if (variable->kind == CXCursor_VarDecl && variable->last != NULL &&
            variable->last->kind >= CXCursor_FirstExpr && variable->last->kind <= CXCursor_LastExpr)
            return true;
    return false;
}

static unsigned statements_of(const struct tree_node *compound)
{
    unsigned count = 0;
    for (struct tree_node *child = compound->first; child != NULL; child = child->next)
        count += does_something(child);
    return count;
}

static struct tree_node *block_of(struct tree_node *statement)
{
    struct tree_node *at = statement->parent;
    while (at != NULL && (at->kind == CXCursor_LabelStmt || at->kind == CXCursor_CaseStmt ||
                          at->kind == CXCursor_DefaultStmt))
        at = at->parent;
    return at;
}

bool has_company(struct tree_node *statement)
{
    struct tree_node *block = block_of(statement);
    return block != NULL && block->kind == CXCursor_CompoundStmt && statements_of(block) > 1;
}

// Whether a place is a statement's alone: what comes out of one macro has one place.
static bool has_own_place(struct tree_node *compound, struct tree_node *child)
{
    if (tree_begin(compound)->macro)
        return false;
    struct tree_node *before = child->previous, *after = child->next;
    return (before == NULL || tree_end(before)->handle != tree_begin(child)->handle ||
            tree_end(before)->offset <= tree_begin(child)->offset) &&
           (after == NULL || tree_begin(after)->handle != tree_end(child)->handle ||
            tree_end(child)->offset <= tree_begin(after)->offset);
}

// Whether a statement's value is the value of a block in parentheses.
static bool is_value(const struct tree_node *compound, const struct tree_node *child)
{
    return child == compound->last && compound->parent != NULL &&
           compound->parent->kind == CXCursor_StmtExpr;
}

static bool is_in_loop(const struct tree_node *node)
{
    for (; node != NULL; node = node->parent)
        if (tree_is_loop(node->kind))
            return true;
    return false;
}

// ---- single statements ----

static struct tree_node *without_void(struct tree_node *expression)
{
    expression = tree_plain(expression);
    bool dropped = expression->kind == CXCursor_CStyleCastExpr && expression->last != NULL &&
                   clang.getCursorType(expression->cursor).kind == CXType_Void;
    return dropped ? tree_plain(expression->last) : expression;
}

static enum action action_of(struct look *look, struct tree_node *statement)
{
    struct tree_node *expression = without_void(statement);
    if (is_call(expression))
        return ACTION_CALL;
    bool assigns = expression->kind == CXCursor_CompoundAssignOperator ||
                   variable_assigned(look, expression) != NULL;
    if (expression->kind == CXCursor_BinaryOperator)
        assigns = clang.getCursorBinaryOperatorKind(expression->cursor) == CXBinaryOperator_Assign;
    if (expression->kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind sign = clang.getCursorUnaryOperatorKind(expression->cursor);
        assigns = sign >= CXUnaryOperator_PostInc && sign <= CXUnaryOperator_PreDec;
    }
    return assigns ? ACTION_ASSIGNMENT : ACTION_NONE;
}

// A fault that leaves out what stands from one statement to another.
static struct source_fault *leave_out(struct look *look, enum model_kind kind,
                                      struct tree_node *first, struct tree_node *last, bool own)
{
    struct source_fault *fault =
        look_add(look, kind, SOURCE_SKIP, tree_begin(first), tree_end(last));
    if (fault != NULL && !own)
        fault->reason = SOURCE_MACRO;
    if (fault != NULL)
        look_anchor(look, fault, tree_plain(first), last);
    return fault;
}

static void leave_out_one(struct look *look, enum model_kind kind, struct tree_node *statement,
                          bool own)
{
    struct source_fault *fault = leave_out(look, kind, statement, statement, own);
    struct tree_place end = look_end(look, statement, false);
    if (fault != NULL)
        look_edit(look, fault, tree_begin(statement), &end, "");
}

// Another value in place of `value`, in what begins at `from`.
static void change_value(struct look *look, const struct variable *variable,
                         const struct tree_place *from, struct tree_node *anchor,
                         struct tree_node *value, bool own)
{
    bool truth = variable->type.kind == CXType_Bool, typeless = variable_is_typeless(variable);
    if (!truth && !typeless && !type_is_whole(variable->type))
        return;
    struct source_fault *fault = look_add(look, MODEL_WVAV, SOURCE_WRONG, from, tree_end(value));
    if (fault == NULL)
        return;
    if (!own)
        fault->reason = SOURCE_MACRO;
    fault->name = variable->name;
    fault->flags = truth ? SOURCE_TRUTH : typeless ? SOURCE_TYPELESS : 0;
    look_anchor(look, fault, anchor, anchor);
    struct tree_place end = look_end(look, value, false);
    size_t size;
    const char *text = look_written(look, fault, tree_begin(value), &end, &size);
    if (text == NULL)
        return;
    fault->replacement = look_print(look, truth ? "!(%.*s)" : "(%.*s) + 1", (int)size, text);
    look_edit(look, fault, tree_begin(value), &end, fault->replacement);
}

static void look_at_assignment(struct look *look, struct tree_node *statement, bool own)
{
    struct tree_node *expression = tree_plain(statement);
    struct variable *variable = variable_assigned(look, expression);
    if (variable == NULL || (!variable_is_scalar(variable) && !variable_is_typeless(variable)))
        return; // C03
    struct tree_node *value = expression->kind == CXCursor_BinaryOperator ? expression->last : NULL;
    bool first = variable->assigned == expression;
    bool constant = value != NULL && is_constant(value, false);
    if (first && value != NULL && is_constant(value, true))
        change_value(look, variable, tree_begin(statement), expression, value, own);
    if (!has_company(statement))
        return; // C02
    if (first && constant && !is_in_loop(statement))
        leave_out_one(look, MODEL_MVIV, statement, own);
    else if (!first && (variable->assigned != NULL || variable->parameter))
        leave_out_one(look, constant ? MODEL_MVAV : MODEL_MVAE, statement, own);
}

// ---- declarations ----

// Where '=' stands before an initial value; false if there is another kind of initialisation.
static bool find_equals(struct look *look, struct tree_node *value, struct tree_place *ret)
{
    size_t size;
    *ret = *tree_begin(value);
    const char *text = look_text(look, ret->handle, &size);
    if (ret->offset > size || ret->offset == 0)
        return false;
    for (ret->offset--; ret->offset > 0 && strchr(" \t\r\n", text[ret->offset]) != NULL;)
        ret->offset--;
    return text[ret->offset] == '=';
}

static void look_at_declaration(struct look *look, struct tree_node *statement,
                                struct tree_node *declaration, bool own)
{
    struct variable *variable = NULL;
    for (size_t i = 0; i < look->variables.count; i++)
        if (look->variables.items[i].node == declaration)
            variable = &look->variables.items[i];
    struct tree_node *value = declaration->last;
    struct tree_place equals;
    if (variable == NULL || variable->lasts || variable->fixed ||
        (!variable_is_scalar(variable) && !variable_is_typeless(variable)) || value == NULL ||
        !is_constant(value, false) || variable->assigned != declaration ||
        !find_equals(look, value, &equals))
        return;
    struct tree_place name = tree_place_of(clang.getCursorLocation(declaration->cursor));
    own &= !name.macro;
    if (is_constant(value, true))
        change_value(look, variable, &name, declaration, value, own);
    if (clang.getCursorType(declaration->cursor).kind == CXType_Auto || is_in_loop(statement) ||
        !has_company(statement))
        return;
    struct source_fault *fault =
        look_add(look, MODEL_MVIV, SOURCE_NO_STORE, &name, tree_end(value));
    if (fault == NULL)
        return;
    if (!own)
        fault->reason = SOURCE_MACRO;
    fault->name = variable->name;
    look_anchor(look, fault, declaration, declaration);
    struct tree_place end = look_end(look, value, false);
    if (fault->placed == SOURCE_IN_TEXT || look_find_operator(look, NULL, value, "=", &equals))
        look_edit(look, fault, &equals, &end, "");
}

// ---- parts of an algorithm ----

// The part that begins with a statement has as many statements as its place among those of its kind
// says, so that all lengths occur. Other levels see these statements, too, but no declarations.
static void leave_out_part(struct look *look, struct tree_node *compound, struct tree_node *first,
                           unsigned run, unsigned number)
{
    unsigned range = MODEL_MOST_STATEMENTS - MODEL_LEAST_STATEMENTS + 1;
    unsigned length = MODEL_LEAST_STATEMENTS + number % range;
    if (length > run)
        length = run;
    if (length >= statements_of(compound))
        length--; // C02
    if (length < MODEL_LEAST_STATEMENTS)
        return;
    struct tree_node *last = first;
    bool own = has_own_place(compound, first);
    for (unsigned i = 1; i < length; i++) {
        last = last->next;
        own &= has_own_place(compound, last);
    }
    struct source_fault *fault = leave_out(look, MODEL_MLPA, first, last, own);
    for (struct tree_node *at = first; fault != NULL; at = at->next) {
        struct tree_place end = look_end(look, at, false);
        look_edit(look, fault, tree_begin(at), &end, "");
        if (at == last)
            break;
    }
}

static bool is_part(struct look *look, struct tree_node *compound, struct tree_node *child)
{
    return action_of(look, child) != ACTION_NONE && !is_value(compound, child);
}

static void look_for_parts(struct look *look, struct tree_node *compound)
{
    unsigned number = 0;
    for (struct tree_node *child = compound->first; child != NULL; child = child->next) {
        unsigned run = 0;
        for (struct tree_node *at = child;
             at != NULL && run < MODEL_MOST_STATEMENTS && is_part(look, compound, at);
             at = at->next)
            run++;
        if (run >= MODEL_LEAST_STATEMENTS)
            leave_out_part(look, compound, child, run, number);
        number = run > 0 ? number + 1 : 0;
    }
}

void rules_statements(struct look *look, struct tree_node *compound)
{
    for (struct tree_node *child = compound->first; child != NULL; child = child->next) {
        struct tree_node *statement = tree_unlabelled(child);
        bool own = has_own_place(compound, child);
        if (statement->kind == CXCursor_DeclStmt) {
            for (struct tree_node *at = statement->first; at != NULL; at = at->next)
                if (at->kind == CXCursor_VarDecl)
                    look_at_declaration(look, statement, at, own);
            continue;
        }
        enum action action = is_value(compound, child) ? ACTION_NONE : action_of(look, statement);
        if (action == ACTION_CALL && has_company(statement))
            leave_out_one(look, MODEL_MFC, statement, own);
        if (action == ACTION_ASSIGNMENT)
            look_at_assignment(look, statement, own);
    }
    look_for_parts(look, compound);
}
