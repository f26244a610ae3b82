// SPDX-License-Identifier: GPL-3.0-or-later
// An XML fragment as a tree whose elements know where they stand in the file.
#ifndef ORDEAL_SCENARIO_XML_TREE_H
#define ORDEAL_SCENARIO_XML_TREE_H

#include "base/arena.h"
#include "scenario/source.h"

struct xml_attribute {
    const char *name, *value;
};

struct xml_node {
    const char *name;
    const char *text; // of an element without children, blanks around it removed
    size_t at;        // byte of its '<' in the file
    const struct xml_attribute *attributes;
    size_t attribute_count;
    struct xml_node *parent, *first, *last, *next;
};

// Reads a file into the arena. It need not have a single root element: the result is a node without
// a name that holds all outermost elements. Errors show the place in the file.
_must_check_ struct error *xml_tree_read(const struct source *file, struct arena *arena,
                                         struct xml_node **ret_root);

// The value of an attribute, or NULL.
const char *xml_attribute(const struct xml_node *node, const char *name);
// The source to parse an attribute's value from, so that errors point into the file.
struct source xml_attribute_source(const struct source *file, const struct xml_node *node,
                                   const char *name);

#endif
