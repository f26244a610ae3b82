// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the generator share while they write one program.
#ifndef ORDEAL_MUTATE_GENERATE_GRAMMAR_H
#define ORDEAL_MUTATE_GENERATE_GRAMMAR_H

#include "mutate/generate/generate.h"

#define GRAMMAR_GLOBALS   6
#define GRAMMAR_FUNCTIONS 4 // func_0 has no parameter, func_1 one, and so on
#define GRAMMAR_LOCALS    4

struct grammar {
    const struct generate_parameters *parameters;
    struct generate_program *program;
    uint64_t random;
    unsigned line, depth;               // lines so far; indentation
    unsigned locals;                    // that may be read: l_0 to l_(locals - 1)
    unsigned loops;                     // counters so far
    unsigned used_locals, used_globals; // sets: those that the expression has
    bool plain;                         // no calls in random expressions
};

// A number below `limit`.
unsigned grammar_pick(struct grammar *grammar, unsigned limit);
// Writes one line, indented.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
grammar_line(struct grammar *grammar, const char *format, ...);
// Opens a block behind a statement's head.
_must_check_ struct error *grammar_block(struct grammar *grammar, const char *head);
_must_check_ struct error *grammar_end(struct grammar *grammar, const char *tail);

// All append to `text`. A random expression has at least one variable.
_must_check_ struct error *grammar_operand(struct grammar *grammar, enum generate_operand operand,
                                           struct buffer *text);
_must_check_ struct error *grammar_random(struct grammar *grammar, struct buffer *text);
// An expression of the parameters' operands and complexity. `signs` are its operators, one of which
// is drawn each time.
_must_check_ struct error *grammar_expression(struct grammar *grammar, const char *const *signs,
                                              struct buffer *text);
// A statement beside the target that changes global variables and is no part of it.
_must_check_ struct error *grammar_company(struct grammar *grammar);
// A statement that changes a global variable: an assignment, or any simple one.
_must_check_ struct error *grammar_assignment(struct grammar *grammar);
_must_check_ struct error *grammar_statement(struct grammar *grammar);

// The target itself; sets what is expected of it.
_must_check_ struct error *target_put(struct grammar *grammar);

#endif
