// SPDX-License-Identifier: GPL-3.0-or-later
// Notes the lines of a function that have constructs which machine code shows in another way.
#include "mutate/source/look.h"

#include <string.h>

static void note_at(struct look *look, enum construct kind, const struct tree_place *place)
{
    if (place->file == NULL)
        return;
    const struct construct_line *last =
        look->out->constructs.count > 0
            ? &look->out->constructs.items[look->out->constructs.count - 1]
            : NULL;
    if (last != NULL && last->kind == kind && last->line == place->at.line &&
        strcmp(last->file, place->file) == 0)
        return;
    struct construct_line *line = ARRAY_ADD(&look->out->constructs);
    if (line != NULL)
        *line = (struct construct_line){kind, look_print(look, "%s", place->file), place->at.line};
    look->failed |= line == NULL;
}

static void note(struct look *look, enum construct kind, struct tree_node *node)
{
    note_at(look, kind, tree_begin(node));
}

// All lines from the beginning of a node to its end.
static void note_lines(struct look *look, enum construct kind, struct tree_node *node)
{
    struct tree_place place = *tree_begin(node);
    unsigned last = tree_end(node)->at.line;
    for (; place.at.line <= last; place.at.line++)
        note_at(look, kind, &place);
}

// ---- macros ----

// Calls, assignments and what branches, if a macro writes them, also where this is no fault:
// machine code may look as if it were one.
static void look_for_macro(struct look *look, struct tree_node *node)
{
    bool acts = node->kind == CXCursor_IfStmt || node->kind == CXCursor_CallExpr ||
                node->kind == CXCursor_ConditionalOperator || node->kind == CXCursor_SwitchStmt ||
                node->kind == CXCursor_CompoundAssignOperator || tree_is_loop(node->kind);
    if (node->kind == CXCursor_BinaryOperator) {
        enum CXBinaryOperatorKind sign = clang.getCursorBinaryOperatorKind(node->cursor);
        acts = sign == CXBinaryOperator_LAnd || sign == CXBinaryOperator_LOr ||
               sign == CXBinaryOperator_Assign;
    }
    if (acts && tree_begin(node)->macro)
        note(look, CONSTRUCT_MACRO, node);
}

// ---- jumps ----

// Whether control does not go on behind a statement, as far as its end shows.
static bool leaves(struct tree_node *node)
{
    while (node != NULL && node->kind == CXCursor_CompoundStmt)
        node = node->last;
    return node != NULL && (node->kind == CXCursor_BreakStmt || node->kind == CXCursor_ReturnStmt ||
                            node->kind == CXCursor_ContinueStmt || node->kind == CXCursor_GotoStmt);
}

static bool has_goto(struct tree_node *node)
{
    for (struct tree_node *at = node; at != NULL && tree_is_inside(at, node);
         at = tree_following(at))
        if (at->kind == CXCursor_GotoStmt)
            return true;
    return false;
}

// What a part consists of, if that is one statement; or NULL.
static struct tree_node *only_statement(struct tree_node *part)
{
    while (part->kind == CXCursor_CompoundStmt && part->children == 1)
        part = part->first;
    return part->kind != CXCursor_CompoundStmt ? part : NULL;
}

static void look_at_if(struct look *look, struct tree_node *node)
{
    struct tree_node *then = node->first != NULL ? node->first->next : NULL;
    if (then == NULL)
        return;
    if (has_goto(node))
        note_lines(look, CONSTRUCT_GOTO, node->first);
    if (leaves(then))
        note_lines(look, CONSTRUCT_LEAVES, node->first);
    struct tree_node *inner = only_statement(then);
    if (then->next == NULL && inner != NULL && inner->kind == CXCursor_IfStmt &&
        inner->children == 2) {
        note_lines(look, CONSTRUCT_NESTED, node->first);
        note_lines(look, CONSTRUCT_NESTED, inner->first);
    }
}

// ---- expressions ----

// Whether an expression is a statement or part of a heading, or decides something: not a value.
static bool stands_alone(const struct tree_node *node)
{
    const struct tree_node *parent = node->parent;
    while (parent != NULL && parent->children == 1 &&
           (parent->kind == CXCursor_UnexposedExpr || parent->kind == CXCursor_ParenExpr)) {
        node = parent;
        parent = parent->parent;
    }
    if (parent == NULL)
        return true;
    switch (parent->kind) {
    case CXCursor_IfStmt:
    case CXCursor_CompoundStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_ForStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        return true;
    default:
        return false;
    }
}

static bool is_logical(const struct tree_node *node)
{
    if (node->kind != CXCursor_BinaryOperator)
        return false;
    enum CXBinaryOperatorKind sign = clang.getCursorBinaryOperatorKind(node->cursor);
    return sign == CXBinaryOperator_LAnd || sign == CXBinaryOperator_LOr;
}

static bool is_change(const struct tree_node *node)
{
    if (node->kind == CXCursor_CompoundAssignOperator)
        return true;
    if (node->kind == CXCursor_BinaryOperator)
        return clang.getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_Assign;
    if (node->kind != CXCursor_UnaryOperator)
        return false;
    enum CXUnaryOperatorKind sign = clang.getCursorUnaryOperatorKind(node->cursor);
    return sign == CXUnaryOperator_PostInc || sign == CXUnaryOperator_PostDec ||
           sign == CXUnaryOperator_PreInc || sign == CXUnaryOperator_PreDec;
}

// Operands of && and || decide as the whole does.
static bool is_value(const struct tree_node *node)
{
    for (;;) {
        if (stands_alone(node))
            return false;
        const struct tree_node *parent = node->parent;
        bool passes = is_logical(parent) || parent->kind == CXCursor_UnexposedExpr ||
                      parent->kind == CXCursor_ParenExpr ||
                      (parent->kind == CXCursor_UnaryOperator &&
                       clang.getCursorUnaryOperatorKind(parent->cursor) == CXUnaryOperator_LNot);
        if (!passes)
            return true;
        node = parent;
    }
}

static bool is_builtin(struct look *look, struct tree_node *call)
{
    static const char *const names[] = {"memcpy", "memset", "memmove", "memcmp", "strlen",
                                        "strcpy", "strcmp", "strcat",  "strchr", "abs",
                                        "labs",   "fabs",   "sqrt",    "printf", "fprintf",
                                        "puts",   "alloca", "strncmp", "fputs",  "putchar"};
    CXString name = clang.getCursorSpelling(call->cursor);
    const char *chars = clang.getCString(name);
    bool found = false;
    for (size_t i = 0; chars != NULL && i < sizeof names / sizeof *names; i++)
        found |= strcmp(chars, names[i]) == 0 || (strncmp(chars, "__builtin_", 10) == 0);
    clang.disposeString(name);
    return found;
}

void constructs_note(struct look *look, struct tree_node *node)
{
    look_for_macro(look, node);
    if (is_change(node) && !stands_alone(node))
        note(look, CONSTRUCT_CHANGE, node);
    switch (node->kind) {
    case CXCursor_IfStmt:
        look_at_if(look, node);
        break;
    case CXCursor_SwitchStmt:
        if (node->first != NULL)
            note_lines(look, CONSTRUCT_SWITCH, node->first);
        note(look, CONSTRUCT_SWITCH, node);
        break;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        note(look, CONSTRUCT_SWITCH, node);
        break;
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
        note(look, CONSTRUCT_GOTO, node);
        break;
    case CXCursor_WhileStmt:
    case CXCursor_ForStmt:
    case CXCursor_DoStmt:
        for (struct tree_node *part = node->first; part != NULL; part = part->next)
            if (part->kind != CXCursor_CompoundStmt)
                note(look, CONSTRUCT_HEADING, part);
        note(look, CONSTRUCT_HEADING, node);
        break;
    case CXCursor_ConditionalOperator:
        note_lines(look, CONSTRUCT_VALUE, node);
        break;
    case CXCursor_BinaryOperator:
        if (is_logical(node) && is_value(node))
            note_lines(look, CONSTRUCT_VALUE, node);
        break;
    case CXCursor_CallExpr:
        if (is_builtin(look, node))
            note_lines(look, CONSTRUCT_BUILTIN, node);
        break;
    case CXCursor_MemberRefExpr: // ->, or a part of what lies at a known place
        if (node->first == NULL ||
            clang.getCanonicalType(clang.getCursorType(node->first->cursor)).kind != CXType_Pointer)
            break;
        note(look, CONSTRUCT_ADDRESS, node);
        break;
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_UnaryExpr: // sizeof
        note(look, CONSTRUCT_ADDRESS, node);
        break;
    default:
        break;
    }
}
