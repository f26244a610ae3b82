// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of arguments: another variable (WPFV), another operator (WAEP).
#include "mutate/source/look.h"

#include <string.h>

// Whether a later variable of the same name hides one.
static bool is_hidden(const struct look *look, const struct variable *variable,
                      const struct tree_node *call)
{
    for (const struct variable *other = variable + 1;
         other < look->variables.items + look->variables.count; other++)
        if (other->node->number < call->number && tree_is_inside(call, other->scope) &&
            strcmp(other->name, variable->name) == 0)
            return true;
    return false;
}

// The last variable of the same type that is declared before a call and known there.
static const struct variable *find_other(const struct look *look, const struct variable *variable,
                                         const struct tree_node *call)
{
    for (size_t i = look->variables.count; i-- > 0;) {
        const struct variable *other = &look->variables.items[i];
        if (other != variable && other->node->number < call->number && *other->name != '\0' &&
            !other->lasts && tree_is_inside(call, other->scope) &&
            !tree_is_inside(call, other->node) && clang.equalTypes(other->type, variable->type) &&
            !is_hidden(look, other, call))
            return other;
    }
    return NULL;
}

static void change_variable(struct look *look, struct tree_node *call, struct tree_node *argument,
                            unsigned parameter)
{
    argument = tree_without_conversions(argument);
    const struct variable *variable =
        argument->kind == CXCursor_DeclRefExpr ? variable_of(look, argument) : NULL;
    if (variable == NULL || !variable_is_scalar(variable))
        return;
    const struct variable *other = find_other(look, variable, call);
    struct source_fault *fault = other != NULL ? look_add(look, MODEL_WPFV, SOURCE_VARIABLE,
                                                          tree_begin(argument), tree_end(argument))
                                               : NULL;
    if (fault == NULL)
        return;
    if (tree_begin(argument)->macro)
        fault->reason = SOURCE_MACRO;
    fault->name = variable->name;
    fault->other = other->name;
    fault->parameter = parameter;
    fault->replacement = other->name;
    fault->detail = look_print(look, "%s for %s", other->name, variable->name);
    look_anchor(look, fault, argument, argument);
    struct tree_place end = look_end(look, argument, false);
    if (fault->placed != SOURCE_IN_TEXT)
        end = look_behind(*tree_begin(argument), (unsigned)strlen(variable->name));
    look_edit(look, fault, tree_begin(argument), &end, other->name);
}

// Where the operator stands between two operands, in the text; false if it is not there.
static bool find_operator(struct look *look, const struct tree_place *begin,
                          const struct tree_place *end, struct tree_place *ret_operator)
{
    size_t size;
    const char *text = look_text(look, begin->handle, &size);
    if (begin->handle != end->handle || end->offset > size)
        return false;
    for (unsigned i = begin->offset; i < end->offset; i++) {
        if (strchr("+-*/%", text[i]) == NULL)
            continue;
        if (text[i] == '/' && (text[i + 1] == '*' || text[i + 1] == '/'))
            return false; // a comment
        *ret_operator = *begin;
        ret_operator->offset = i;
        return true;
    }
    return false;
}

static CXType plain_type(const struct tree_node *node)
{
    return clang.getUnqualifiedType(clang.getCanonicalType(clang.getCursorType(node->cursor)));
}

static bool is_real(const struct tree_node *node)
{
    enum CXTypeKind kind = plain_type(node).kind;
    return kind == CXType_Float || kind == CXType_Double || kind == CXType_LongDouble ||
           kind == CXType_Float128 || kind == CXType_Half || kind == CXType_Float16;
}

// The operator that stands there instead (mutate/model.c).
static const char *replacement_for(struct tree_node *argument, enum CXBinaryOperatorKind sign)
{
    if (sign != CXBinaryOperator_Add)
        return "+";
    if (is_real(argument))
        return "*";
    return is_constant(argument->first, false) || is_constant(argument->last, false) ? "-" : "|";
}

static void replace_operator(struct look *look, struct source_fault *fault,
                             struct tree_node *argument, const struct tree_place *sign)
{
    struct tree_node *left = argument->first, *right = argument->last;
    struct tree_place behind = look_behind(*sign, 1), end = look_end(look, right, false);
    bool constant = *fault->replacement == '-' && is_constant(left, false);
    if (constant) { // it is what is subtracted
        look_edit(look, fault, tree_begin(left), tree_begin(left), "-(");
        look_edit(look, fault, sign, sign, ")");
    } else if (*fault->replacement == '*') { // binds closer than what it replaces
        look_edit(look, fault, tree_begin(left), tree_begin(left), "(");
        look_edit(look, fault, sign, &behind, ") * (");
        look_edit(look, fault, &end, &end, ")");
    } else {
        look_edit(look, fault, sign, &behind, fault->replacement);
    }
}

static void change_operator(struct look *look, struct tree_node *argument, unsigned parameter)
{
    argument = tree_plain(argument);
    if (argument->kind != CXCursor_BinaryOperator || argument->children != 2 ||
        is_constant(argument, false))
        return;
    enum CXBinaryOperatorKind sign = clang.getCursorBinaryOperatorKind(argument->cursor);
    if (sign < CXBinaryOperator_Mul || sign > CXBinaryOperator_Sub ||
        !type_is_arithmetic(plain_type(argument->first)) ||
        !type_is_arithmetic(plain_type(argument->last)))
        return;
    const struct tree_place *begin = tree_end(argument->first), *end = tree_begin(argument->last);
    struct source_fault *fault = look_add(look, MODEL_WAEP, SOURCE_OPERATOR, begin, end);
    if (fault == NULL)
        return;
    fault->at = tree_begin(argument)->at;
    fault->parameter = parameter;
    fault->replacement = replacement_for(argument, sign);
    fault->detail = look_describe(look, tree_begin(argument), tree_end(argument));
    look_anchor(look, fault, argument, argument);
    static const char *const signs[] = {"*", "/", "%", "+", "-"};
    struct tree_place place;
    if (fault->placed == SOURCE_IN_TEXT
            ? find_operator(look, begin, end, &place)
            : look_find_operator(look, argument->first, argument->last,
                                 signs[sign - CXBinaryOperator_Mul], &place)) {
        replace_operator(look, fault, argument, &place);
        size_t size;
        struct tree_place last = look_end(look, argument, false);
        const char *text = look_written(look, fault, tree_begin(argument), &last, &size);
        if (text != NULL && fault->placed != SOURCE_IN_TEXT)
            fault->written = tree_begin(argument)->written_at;
        if (text != NULL)
            fault->written_detail = look_print(look, "%.*s", (int)(size < 60 ? size : 60), text);
    }
}

void rules_call(struct look *look, struct tree_node *call)
{
    if (!is_call(call))
        return;
    unsigned parameter = 1;
    for (struct tree_node *argument = call->first->next; argument != NULL;
         argument = argument->next, parameter++) {
        change_variable(look, call, argument, parameter);
        change_operator(look, argument, parameter);
    }
}
