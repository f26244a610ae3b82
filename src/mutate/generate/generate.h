// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic C programs for testing tools that inject faults of the model: each has one target, a
// place that must have a known number of faults of one type, or none, because a constraint is
// violated there. The programs follow a stochastic grammar; the same parameters and the same seed
// give the same program.
#ifndef ORDEAL_MUTATE_GENERATE_GENERATE_H
#define ORDEAL_MUTATE_GENERATE_GENERATE_H

#include "base/array.h"
#include "mutate/model.h"

#include <stdbool.h>
#include <stdint.h>

enum generate_context { // the statement around the target
    GENERATE_NONE,
    GENERATE_WHILE,
    GENERATE_FOR,
    GENERATE_IF,        // if (...) { target }
    GENERATE_IF_BEFORE, // if (...) { target } else { ... }
    GENERATE_IF_AFTER,  // if (...) { ... } else { target }
    GENERATE_CONTEXTS,
};

enum generate_operand { // of expressions in the target
    GENERATE_CONSTANT,
    GENERATE_LOCAL,
    GENERATE_GLOBAL,
    GENERATE_CALL,
    GENERATE_OPERANDS,
};

enum generate_complexity { // of those expressions
    GENERATE_ONE,
    GENERATE_TWO,
    GENERATE_THREE,
    GENERATE_ONE_AND_RANDOM,     // one operand and a random expression
    GENERATE_ONE_AND_TWO_RANDOM, // one operand and two of them
    GENERATE_COMPLEXITIES,
};

#define GENERATE_DEEPEST 2 // nesting of contexts

struct generate_parameters {
    enum model_kind kind;
    unsigned violated; // number of the constraint that does not hold; 0: all hold
    enum generate_context context;
    unsigned nesting; // contexts of the same kind around that
    enum generate_operand operand;
    enum generate_complexity complexity;
};

struct generate_program {
    struct buffer text;
    unsigned first, last; // lines of the target
    unsigned expected;    // how many faults of the type the target has
};

const char *generate_context_word(enum generate_context context);
const char *generate_operand_word(enum generate_operand operand);
const char *generate_complexity_word(enum generate_complexity complexity);

// Goes on to the next combination that makes sense; starts with zeroed parameters and `begun`
// false. False after the last.
bool generate_next(struct generate_parameters *parameters, bool *begun);
_must_check_ struct error *generate_program(const struct generate_parameters *parameters,
                                            uint64_t seed, struct generate_program *ret_program);
void generate_program_deinit(struct generate_program *program);

#endif
