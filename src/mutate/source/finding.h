// SPDX-License-Identifier: GPL-3.0-or-later
// What the rules share while they look at one function.
#ifndef ORDEAL_MUTATE_SOURCE_FINDING_H
#define ORDEAL_MUTATE_SOURCE_FINDING_H

#include "base/map.h"
#include "mutate/source/source.h"
#include "mutate/source/tree.h"

struct variable { // of the function: local, or a parameter
    struct tree_node *node, *scope;
    const char *name;
    CXType type;                  // without qualifiers and typedefs
    struct tree_node *assigned;   // the node that first gives it a value; or NULL
    bool parameter, fixed, lasts; // fixed: const; lasts: static
};

struct finding {
    CXTranslationUnit unit;
    struct source_faults *out;
    struct tree tree;
    struct tree_place place; // of the function
    const char *name;
    ARRAY(struct variable) variables;
    struct map by_declaration;
    ARRAY(CXCursor) inner; // functions inside functions
    CXFile text_file;
    const char *text; // of `text_file`
    size_t text_size;
    bool failed; // memory was short
};

// A new fault of the function, with its place; NULL when memory is short.
struct source_fault *finding_add(struct finding *finding, enum model_kind kind, enum source_how how,
                                 const struct tree_place *begin, const struct tree_place *end);
// Adds an edit of the text between two places, unless they come out of a macro or are not in the
// fault's file: then the fault can have none.
void finding_edit(struct finding *finding, struct source_fault *fault,
                  const struct tree_place *begin, const struct tree_place *end, const char *text);
const char *finding_text(struct finding *finding, CXFile file, size_t *ret_size);
__attribute__((format(printf, 2, 3))) const char *finding_print(struct finding *finding,
                                                                const char *format, ...);

// Variables of the function.
void variables_find(struct finding *finding);
// The variable that an expression names; NULL if it does not, or if the variable is not local.
struct variable *variable_of(struct finding *finding, struct tree_node *expression);
// The variable that an expression gives a value to, or NULL.
struct variable *variable_assigned(struct finding *finding, struct tree_node *expression);
bool variable_is_scalar(const struct variable *variable);
bool type_is_arithmetic(CXType type);
bool type_is_whole(CXType type); // an integer that is no truth value and no enum
bool is_constant(struct tree_node *node, bool only_whole);
bool is_call(const struct tree_node *node);

// The rules.
void rules_statements(struct finding *finding, struct tree_node *compound);
void rules_if(struct finding *finding, struct tree_node *statement);
void rules_condition(struct finding *finding, struct tree_node *condition);
void rules_call(struct finding *finding, struct tree_node *call);
// Whether something else stands beside a statement in its block.
bool has_company(struct tree_node *statement);

#endif
