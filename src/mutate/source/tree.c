// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a function's tree in one visit. libclang walks with callbacks and knows no parents.
#include "mutate/source/tree.h"

struct reading {
    struct tree *tree;
    struct tree_node *at; // the node whose children come
    bool failed;
    void (*inner)(void *data, CXCursor function);
    void *data;
};

bool tree_is_function(enum CXCursorKind kind)
{
    return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
           kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
           kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate ||
           kind == CXCursor_LambdaExpr;
}

bool tree_is_loop(enum CXCursorKind kind)
{
    return kind == CXCursor_WhileStmt || kind == CXCursor_ForStmt || kind == CXCursor_DoStmt ||
           kind == CXCursor_CXXForRangeStmt;
}

static struct tree_node *add(struct tree *tree, struct tree_node *parent, CXCursor cursor)
{
    struct tree_node *node = arena_alloc(&tree->arena, sizeof *node);
    if (node == NULL)
        return NULL;
    node->cursor = cursor;
    node->kind = clang.getCursorKind(cursor);
    node->parent = parent;
    node->number = tree->count++;
    if (parent == NULL)
        return node;
    node->previous = parent->last;
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    parent->children++;
    return node;
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct reading *reading = data;
    while (reading->at->parent != NULL && !clang.equalCursors(reading->at->cursor, parent))
        reading->at = reading->at->parent;
    struct tree_node *node = add(reading->tree, reading->at, cursor);
    if (node == NULL) {
        reading->failed = true;
        return CXChildVisit_Break;
    }
    if (tree_is_function(node->kind)) {
        if (reading->inner != NULL)
            reading->inner(reading->data, cursor);
        return CXChildVisit_Continue;
    }
    reading->at = node;
    return CXChildVisit_Recurse;
}

struct error *tree_read(struct tree *tree, CXCursor function,
                        void (*inner)(void *data, CXCursor function), void *data)
{
    *tree = (struct tree){0};
    tree->root = add(tree, NULL, function);
    struct reading reading = {.tree = tree, .at = tree->root, .inner = inner, .data = data};
    if (tree->root != NULL)
        clang.visitChildren(function, visit, &reading);
    if (tree->root == NULL || reading.failed) {
        tree_deinit(tree);
        return error_no_memory();
    }
    for (struct tree_node *node = tree->root->first; node != NULL; node = node->next)
        if (node->kind == CXCursor_CompoundStmt)
            tree->body = node;
    return NULL;
}

void tree_deinit(struct tree *tree)
{
    arena_deinit(&tree->arena);
    *tree = (struct tree){0};
}

// ---- places ----

struct tree_place tree_place_of(CXSourceLocation location)
{
    struct tree_place place = {0};
    CXString file;
    unsigned line, column;
    clang.getPresumedLocation(location, &file, &place.at.line, &place.at.column);
    place.file = clang.getCString(file);
    clang.getExpansionLocation(location, &place.handle, &line, &column, &place.offset);
    clang.getSpellingLocation(location, &place.written, &place.written_at.line,
                              &place.written_at.column, &place.written_offset);
    place.macro = place.written != place.handle || place.written_offset != place.offset;
    clang.disposeString(file);
    return place;
}

static void find_place(struct tree_node *node)
{
    if (node->placed)
        return;
    CXSourceRange range = clang.getCursorExtent(node->cursor);
    node->begin = tree_place_of(clang.getRangeStart(range));
    node->end = tree_place_of(clang.getRangeEnd(range));
    node->placed = true;
}

const struct tree_place *tree_begin(struct tree_node *node)
{
    find_place(node);
    return &node->begin;
}

const struct tree_place *tree_end(struct tree_node *node)
{
    find_place(node);
    return &node->end;
}

// ---- neighbours ----

struct tree_node *tree_without_conversions(struct tree_node *node)
{
    while (node->kind == CXCursor_UnexposedExpr && node->children == 1)
        node = node->first;
    return node;
}

struct tree_node *tree_plain(struct tree_node *node)
{
    while ((node->kind == CXCursor_UnexposedExpr || node->kind == CXCursor_ParenExpr) &&
           node->children == 1)
        node = node->first;
    return node;
}

struct tree_node *tree_unlabelled(struct tree_node *node)
{
    while ((node->kind == CXCursor_LabelStmt || node->kind == CXCursor_CaseStmt ||
            node->kind == CXCursor_DefaultStmt) &&
           node->last != NULL)
        node = node->last;
    return node;
}

struct tree_node *tree_following(const struct tree_node *node)
{
    if (node->first != NULL)
        return node->first;
    while (node != NULL && node->next == NULL)
        node = node->parent;
    return node != NULL ? node->next : NULL;
}

bool tree_is_inside(const struct tree_node *node, const struct tree_node *outer)
{
    while (node != NULL && node != outer)
        node = node->parent;
    return node != NULL;
}
