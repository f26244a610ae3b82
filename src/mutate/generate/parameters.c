// SPDX-License-Identifier: GPL-3.0-or-later
// Which combinations of parameters there are. A combination is left out if its program would not be
// what its parameters say: a boolean condition of one term has no &&, a value is no local variable.
#include "mutate/generate/generate.h"

const char *generate_context_word(enum generate_context context)
{
    static const char *const words[GENERATE_CONTEXTS] = {
        "none", "while", "for", "if-target", "if-target-then-else", "if-then-else-target"};
    return words[context];
}

const char *generate_operand_word(enum generate_operand operand)
{
    static const char *const words[GENERATE_OPERANDS] = {"constant", "local", "global", "call"};
    return words[operand];
}

const char *generate_complexity_word(enum generate_complexity complexity)
{
    static const char *const words[GENERATE_COMPLEXITIES] = {
        "one", "two", "three", "one-and-random", "one-and-two-random"};
    return words[complexity];
}

static bool is_loop(enum generate_context context)
{
    return context == GENERATE_WHILE || context == GENERATE_FOR;
}

// Targets that assign a value: a constant, or several joined by operators.
static bool assigns_value(enum model_kind kind)
{
    return kind == MODEL_MVIV || kind == MODEL_MVAV || kind == MODEL_WVAV;
}

static bool makes_sense(const struct generate_parameters *p)
{
    uint32_t constraints = model_types[p->kind].constraints;
    bool random = p->complexity >= GENERATE_ONE_AND_RANDOM;
    if ((p->violated != 0 && !(constraints & 1u << p->violated)) ||
        (p->context == GENERATE_NONE && p->nesting > 0))
        return false;
    // What is violated elsewhere must hold in the other programs.
    if (constraints & MODEL_C05 && (p->violated == 5) != is_loop(p->context) &&
        (p->violated == 5 || is_loop(p->context)))
        return false;
    if (assigns_value(p->kind) && (p->operand != GENERATE_CONSTANT || random))
        return false;
    switch (p->kind) {
    case MODEL_MIA: // a compiler decides a constant condition itself
    case MODEL_MIFS:
    case MODEL_MIEB:
        return p->operand != GENERATE_CONSTANT || random;
    case MODEL_MVAE: // an expression of constants is a value
        return p->operand != GENERATE_CONSTANT || random;
    case MODEL_MLAC:
    case MODEL_MLOC:
        // a compiler leaves out constant operands itself
        return p->complexity != GENERATE_ONE && p->operand != GENERATE_CONSTANT;
    case MODEL_WAEP:
        // A compiler moves a constant to the end: of 5 + a - b, the outermost operator is then +.
        return p->complexity != GENERATE_ONE &&
               (p->operand != GENERATE_CONSTANT || p->complexity == GENERATE_ONE_AND_RANDOM);
    case MODEL_WPFV: // C03 is violated by a global variable
        return p->operand == (p->violated == 3 ? GENERATE_GLOBAL : GENERATE_LOCAL);
    default:
        return true;
    }
}

// Counts up, the last parameter first.
static bool count_up(struct generate_parameters *p)
{
    if (++p->complexity < GENERATE_COMPLEXITIES)
        return true;
    p->complexity = 0;
    if (++p->operand < GENERATE_OPERANDS)
        return true;
    p->operand = 0;
    if (++p->nesting <= GENERATE_DEEPEST)
        return true;
    p->nesting = 0;
    if (++p->context < GENERATE_CONTEXTS)
        return true;
    p->context = 0;
    if (++p->violated <= MODEL_CONSTRAINTS)
        return true;
    p->violated = 0;
    return ++p->kind < MODEL_KINDS;
}

bool generate_next(struct generate_parameters *parameters, bool *begun)
{
    bool more = *begun ? count_up(parameters) : true;
    *begun = true;
    while (more && !makes_sense(parameters))
        more = count_up(parameters);
    return more;
}
