// SPDX-License-Identifier: GPL-3.0-or-later
// The syntax tree of one function, as nodes that know their neighbours. Places are where the
// compiler's debug information puts them: a macro's code stands where the macro is used.
#ifndef ORDEAL_MUTATE_SOURCE_TREE_H
#define ORDEAL_MUTATE_SOURCE_TREE_H

#include "base/arena.h"
#include "base/array.h"
#include "mutate/source-table.h"
#include "mutate/source/clang.h"

#include <stdbool.h>

struct tree_place {
    const char *file; // as debug information names it; lives as long as the translation unit
    struct source_position at;
    CXFile handle;   // the real file
    unsigned offset; // in it
    bool macro;      // comes out of a macro; of a node's end, see look_end()
    // Where it is written: in a macro's definition, or in an argument. NULL: nowhere.
    CXFile written;
    unsigned written_offset;
    struct source_position written_at;
};

struct tree_node {
    CXCursor cursor;
    enum CXCursorKind kind;
    struct tree_node *parent, *first, *last, *next, *previous;
    unsigned children, number; // number: in the order of the source
    bool placed;
    struct tree_place begin, end; // see tree_begin(), tree_end()
};

struct tree {
    struct arena arena;
    struct tree_node *root; // the function
    struct tree_node *body; // its statements
    unsigned count;
};

// Reads the tree of a function. Functions inside it, such as lambdas, are leaves; `inner`, if it is
// not NULL, is called for each.
_must_check_ struct error *tree_read(struct tree *tree, CXCursor function,
                                     void (*inner)(void *data, CXCursor function), void *data);
void tree_deinit(struct tree *tree);

struct tree_place tree_place_of(CXSourceLocation location);
const struct tree_place *tree_begin(struct tree_node *node);
const struct tree_place *tree_end(struct tree_node *node); // behind the last character
bool tree_is_function(enum CXCursorKind kind);
bool tree_is_loop(enum CXCursorKind kind);
// The expression inside parentheses and conversions.
struct tree_node *tree_plain(struct tree_node *node);
struct tree_node *tree_without_conversions(struct tree_node *node);
// The statement behind labels.
struct tree_node *tree_unlabelled(struct tree_node *node);
struct tree_node *tree_following(const struct tree_node *node); // in the source; or NULL
bool tree_is_inside(const struct tree_node *node, const struct tree_node *outer);

#endif
