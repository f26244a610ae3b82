// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a directory tree, however deep it is: without recursion, with few open descriptors and
// without long paths.
#ifndef ORDEAL_BASE_TREE_H
#define ORDEAL_BASE_TREE_H

#include "base/error.h"

#include <stdbool.h>

enum { TREE_SIDES = 2 };

// A directory of the tree that is walked, sides[0], and one that belongs to it elsewhere, sides[1],
// such as its copy. -1: there is none.
struct tree_directory {
    int sides[TREE_SIDES];
    const char *path; // from the root of the walk: "" is the root, else "a/b"
    unsigned marks;   // the visitor's own
    bool elsewhere;   // sides[0] was not opened in the directory above it
};

struct tree_visitor {
    // An entry of the directory, in no particular order. To go into it, opens it and sets `below`:
    // its sides, which the walk closes, its marks and `elsewhere`.
    struct error *(*entry)(void *data, const struct tree_directory *directory, const char *name,
                           struct tree_directory *below);
    // All entries of a directory have been visited; `name` is its name in `parent`, whose path is
    // not given. Not called for the root. May be NULL.
    struct error *(*leave)(void *data, const struct tree_directory *parent, const char *name,
                           const struct tree_directory *directory);
};

// Walks the tree, without "." and "..". Entries that are made meanwhile may be missed. The root's
// sides stay open, and are the caller's. An error of the visitor ends the walk. It is an error if a
// directory is moved away meanwhile.
_must_check_ struct error *tree_walk(const struct tree_directory *root,
                                     const struct tree_visitor *visitor, void *data);

#endif
