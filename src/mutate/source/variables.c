// SPDX-License-Identifier: GPL-3.0-or-later
// The variables of a function, and which statement first gives each a value.
#include "mutate/source/look.h"

#include <string.h>

// ---- types and expressions ----

bool type_is_whole(CXType type)
{
    return (type.kind >= CXType_Char_U && type.kind <= CXType_Int128);
}

bool type_is_arithmetic(CXType type)
{
    return type_is_whole(type) || type.kind == CXType_Bool || type.kind == CXType_Enum ||
           type.kind == CXType_Float || type.kind == CXType_Double ||
           type.kind == CXType_LongDouble;
}

bool variable_is_scalar(const struct variable *variable)
{
    return type_is_arithmetic(variable->type) || variable->type.kind == CXType_Pointer;
}

bool variable_is_typeless(const struct variable *variable)
{
    return variable->type.kind == CXType_Unexposed;
}

bool is_call(const struct tree_node *node)
{
    // An object's construction has no callee among its children.
    int arguments =
        node->kind == CXCursor_CallExpr ? clang.Cursor_getNumArguments(node->cursor) : -1;
    if (arguments < 0 || node->children != (unsigned)arguments + 1)
        return false;
    CXString name = clang.getCursorSpelling(node->cursor);
    const char *chars = clang.getCString(name);
    bool operator_ = chars != NULL && strncmp(chars, "operator", 8) == 0;
    clang.disposeString(name);
    return !operator_;
}

static bool is_enumerator(const struct tree_node *node)
{
    CXCursor meant = clang.getCursorReferenced(node->cursor);
    return clang.getCursorKind(meant) == CXCursor_EnumConstantDecl;
}

bool is_constant(struct tree_node *node, bool only_whole)
{
    switch (node->kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr: // sizeof
        return true;
    case CXCursor_FloatingLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
        return !only_whole;
    case CXCursor_DeclRefExpr:
        return is_enumerator(node);
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
        return node->children == 1 && is_constant(node->first, only_whole);
    case CXCursor_CStyleCastExpr:
        return node->last != NULL && is_constant(node->last, only_whole);
    case CXCursor_UnaryOperator: {
        enum CXUnaryOperatorKind sign = clang.getCursorUnaryOperatorKind(node->cursor);
        return sign >= CXUnaryOperator_Plus && sign <= CXUnaryOperator_LNot &&
               node->children == 1 && is_constant(node->first, only_whole);
    }
    case CXCursor_BinaryOperator: {
        enum CXBinaryOperatorKind sign = clang.getCursorBinaryOperatorKind(node->cursor);
        return sign >= CXBinaryOperator_Mul && sign <= CXBinaryOperator_LOr &&
               node->children == 2 && is_constant(node->first, only_whole) &&
               is_constant(node->last, only_whole);
    }
    default:
        return false;
    }
}

// ---- variables ----

static uint64_t key_of(CXCursor declaration)
{
    return (uintptr_t)declaration.data[0];
}

static void add_variable(struct look *look, struct tree_node *node)
{
    struct variable *variable = ARRAY_ADD(&look->variables);
    struct error *error = variable != NULL ? map_put(&look->by_declaration, key_of(node->cursor),
                                                     (uint32_t)look->variables.count - 1)
                                           : error_no_memory();
    if (error != NULL) {
        look->failed = true;
        error_free(error);
        return;
    }
    CXType type = clang.getCanonicalType(clang.getCursorType(node->cursor));
    enum CX_StorageClass storage = clang.Cursor_getStorageClass(node->cursor);
    CXString name = clang.getCursorSpelling(node->cursor);
    const char *chars = clang.getCString(name);
    struct tree_node *scope = node->parent;
    if (scope->kind == CXCursor_DeclStmt)
        scope = scope->parent;
    *variable = (struct variable){
        .node = node,
        .scope = scope,
        .name = look_print(look, "%s", chars != NULL ? chars : ""),
        .type = clang.getUnqualifiedType(type),
        .parameter = node->kind == CXCursor_ParmDecl,
        .fixed = clang.isConstQualifiedType(type),
        .lasts = storage == CX_SC_Static || storage == CX_SC_Extern,
    };
    clang.disposeString(name);
}

struct variable *variable_of(struct look *look, struct tree_node *expression)
{
    expression = tree_plain(expression);
    if (expression->kind != CXCursor_DeclRefExpr)
        return NULL;
    CXCursor meant = clang.getCursorReferenced(expression->cursor);
    uint32_t index = map_find(&look->by_declaration, key_of(meant));
    struct variable *variable = index != MAP_NONE ? &look->variables.items[index] : NULL;
    return variable != NULL && !variable->lasts && *variable->name != '\0' ? variable : NULL;
}

struct variable *variable_assigned(struct look *look, struct tree_node *expression)
{
    bool assigns = false;
    if (expression->kind == CXCursor_BinaryOperator)
        assigns = clang.getCursorBinaryOperatorKind(expression->cursor) == CXBinaryOperator_Assign;
    else if (expression->kind == CXCursor_CompoundAssignOperator)
        assigns = true;
    else if (expression->kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind sign = clang.getCursorUnaryOperatorKind(expression->cursor);
        assigns = sign >= CXUnaryOperator_PostInc && sign <= CXUnaryOperator_PreDec;
    }
    return assigns && expression->first != NULL ? variable_of(look, expression->first) : NULL;
}

static bool is_expression(const struct tree_node *node)
{
    return node->kind >= CXCursor_FirstExpr && node->kind <= CXCursor_LastExpr;
}

void variables_find(struct look *look)
{
    look->variables.count = 0;
    map_clear(&look->by_declaration);
    for (struct tree_node *node = look->tree.root; node != NULL; node = tree_following(node)) {
        bool declares = (node->kind == CXCursor_ParmDecl && node->parent == look->tree.root) ||
                        (node->kind == CXCursor_VarDecl && tree_is_inside(node, look->tree.body));
        if (declares)
            add_variable(look, node);
        struct variable *assigned = variable_assigned(look, node);
        if (declares && node->kind == CXCursor_VarDecl && node->last != NULL &&
            is_expression(node->last) && look->variables.count > 0)
            assigned = &look->variables.items[look->variables.count - 1];
        if (assigned != NULL && !assigned->parameter && assigned->assigned == NULL)
            assigned->assigned = node;
    }
}
