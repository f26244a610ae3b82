// SPDX-License-Identifier: GPL-3.0-or-later
// A YAML document as a tree whose nodes know where they stand in the file.
#ifndef ORDEAL_SCENARIO_YAML_TREE_H
#define ORDEAL_SCENARIO_YAML_TREE_H

#include "base/arena.h"
#include "scenario/source.h"

#include <stdbool.h>

enum yaml_kind {
    YAML_SCALAR,
    YAML_LIST,
    YAML_MAPPING,
};

struct yaml_node {
    enum yaml_kind kind;
    size_t at;        // byte in the file
    const char *text; // scalars
    size_t size;
    struct yaml_node *first, *next; // children; of a mapping: key, value, key, value, …
};

// Reads the document of a file into the arena; NULL for an empty document. Refuses what scenarios
// do not need: anchors, aliases, tags, a second document, deep nesting, duplicate keys. Errors show
// the place in the file.
_must_check_ struct error *yaml_tree_read(const struct source *file, struct arena *arena,
                                          struct yaml_node **ret_root);

// The source to parse a scalar's text from, so that errors point into the file.
struct source yaml_scalar_source(const struct source *file, const struct yaml_node *scalar);

#endif
