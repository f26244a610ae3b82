// SPDX-License-Identifier: GPL-3.0-or-later
// What a machine has of what trials need. The controller's own facts are what nodes are compared
// with.
#ifndef ORDEAL_ENGINES_SLURM_NODE_FACTS_H
#define ORDEAL_ENGINES_SLURM_NODE_FACTS_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

enum fact_kind {
    FACT_KERNEL,    // its release; may differ
    FACT_SANDBOX,   // which one trials have
    FACT_VERSION,   // of Ordeal: a digest of the program
    FACT_DIRECTORY, // the workload's
    FACT_PROGRAM,
    FACT_LIBRARY,    // that the program loads
    FACT_FILE,       // that the definition names
    FACT_REFERENCES, // "same", or how a run without faults differs
    FACT_KINDS
};

struct fact {
    enum fact_kind kind;
    char *name;  // of a file, or ""
    char *value; // a digest, or what is known
};
struct node_facts {
    ARRAY(struct fact) items;
};
void node_facts_deinit(struct node_facts *facts);
_must_check_ struct error *node_facts_add(struct node_facts *facts, enum fact_kind kind,
                                          const char *name, const char *value);
// Adds what can be found out without running the workload.
_must_check_ struct error *node_facts_collect(struct node_facts *facts,
                                              const struct definition *definition);
// The value of the first fact of a kind, or NULL.
const char *node_facts_value(const struct node_facts *facts, enum fact_kind kind);

// As lines of text, for a file. Foreign bytes when they are read.
_must_check_ struct error *node_facts_put(struct buffer *text, const struct node_facts *facts);
_must_check_ struct error *node_facts_get(const struct buffer *text, struct node_facts *ret_facts);

// Why a machine with these facts cannot serve: the first difference from the controller's. NULL:
// it can. The caller frees the text.
_must_check_ struct error *node_facts_compare(const struct node_facts *ours,
                                              const struct node_facts *theirs, char **ret_why);

// A table of machines: one line each, after a headline.
_must_check_ struct error *node_facts_put_headline(struct buffer *text);
_must_check_ struct error *node_facts_put_line(struct buffer *text, const char *node,
                                               const struct node_facts *ours,
                                               const struct node_facts *theirs);

#endif
