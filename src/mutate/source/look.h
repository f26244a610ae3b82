// SPDX-License-Identifier: GPL-3.0-or-later
// What the rules share while they look at one function.
#ifndef ORDEAL_MUTATE_SOURCE_LOOK_H
#define ORDEAL_MUTATE_SOURCE_LOOK_H

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

struct look {
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
    bool constructs; // are wanted
    bool failed;     // memory was short
};

// A new fault of the function, with its place; NULL when memory is short.
struct source_fault *look_add(struct look *look, enum model_kind kind, enum source_how how,
                              const struct tree_place *begin, const struct tree_place *end);
// Says what the fault is about, before it gets edits: where that is written decides which text they
// change.
void look_anchor(struct look *look, struct source_fault *fault, struct tree_node *anchor,
                 struct tree_node *last);
// Notes where the text of a macro is that an edit changes.
void look_note_written(struct look *look, struct source_fault *fault,
                       const struct tree_place *begin, const struct tree_place *end);
void look_count_anchors(struct look *look); // of the function
// The end of a node, with the place where that is written. A clause ends before && and ||, too.
struct tree_place look_end(struct look *look, struct tree_node *node, bool clause);
// Where an operator is written between two operands that come out of a macro. `left` may be NULL.
bool look_find_operator(struct look *look, struct tree_node *left, struct tree_node *right,
                        const char *sign, struct tree_place *ret_place);
struct tree_place look_behind(struct tree_place place, unsigned bytes);
// Adds an edit of the text between two places, unless they are not in one file: then the fault can
// have none.
void look_edit(struct look *look, struct source_fault *fault, const struct tree_place *begin,
               const struct tree_place *end, const char *text);
// The text between two places where the fault has its edits; NULL if there is none.
const char *look_written(struct look *look, const struct source_fault *fault,
                         const struct tree_place *begin, const struct tree_place *end,
                         size_t *ret_size);
const char *look_text(struct look *look, CXFile file, size_t *ret_size);
// What stands between two places, on one line and not too long.
const char *look_describe(struct look *look, const struct tree_place *begin,
                          const struct tree_place *end);
__attribute__((format(printf, 2, 3))) const char *look_print(struct look *look, const char *format,
                                                             ...);

// Notes what constructs a node is.
void constructs_note(struct look *look, struct tree_node *node);

// Variables of the function.
void variables_find(struct look *look);
// The variable that an expression names; NULL if it does not, or if the variable is not local.
struct variable *variable_of(struct look *look, struct tree_node *expression);
// The variable that an expression gives a value to, or NULL.
struct variable *variable_assigned(struct look *look, struct tree_node *expression);
bool variable_is_scalar(const struct variable *variable);
// Whether its type is a template's parameter. The code of each instance tells what it is there.
bool variable_is_typeless(const struct variable *variable);
bool type_is_arithmetic(CXType type);
bool type_is_whole(CXType type); // an integer that is no truth value and no enum
bool is_constant(struct tree_node *node, bool only_whole);
bool is_call(const struct tree_node *node);

// The rules.
void rules_statements(struct look *look, struct tree_node *compound);
void rules_if(struct look *look, struct tree_node *statement);
void rules_condition(struct look *look, struct tree_node *condition);
void rules_call(struct look *look, struct tree_node *call);
// Whether something else stands beside a statement in its block.
bool has_company(struct tree_node *statement);

#endif
