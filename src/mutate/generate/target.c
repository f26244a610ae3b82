// SPDX-License-Identifier: GPL-3.0-or-later
// Targets: one function per shape. A violated constraint changes the target itself or, for C02 and
// C04, what stands around it (program.c).
#include "mutate/generate/grammar.h"

#include "base/cleanup.h"

#include <stddef.h>

static const char *const any_sign[] = {"+", "-", "*", "^", NULL};
static const char *const arithmetic[] = {"+", "-", "*", NULL};

static unsigned terms_of(enum generate_complexity complexity)
{
    static const unsigned terms[GENERATE_COMPLEXITIES] = {1, 2, 3, 2, 3};
    return terms[complexity];
}

static struct error *put_call(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer value = {0}, more = {0};
    bool used = grammar->parameters->violated == 1;
    TRY(grammar_expression(grammar, any_sign, &value));
    TRY(grammar_expression(grammar, any_sign, &more));
    grammar->program->expected = grammar->parameters->violated == 0;
    const char *result = used ? "g_1 = " : "";
    return grammar_pick(grammar, 2) == 0
               ? grammar_line(grammar, "%sfunc_1(%s);", result, value.data)
               : grammar_line(grammar, "%sfunc_2(%s, %s);", result, value.data, more.data);
}

// MVIV, MVAV, MVAE, WVAV: the variable l_t, or a global one if it must not be local.
static struct error *put_assignment(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer value = {0};
    unsigned violated = grammar->parameters->violated;
    const char *name = violated == 3 ? "g_2" : "l_t";
    TRY(grammar_expression(grammar, any_sign, &value));
    grammar->program->expected = violated == 0;
    if (violated != 6)
        return grammar_line(grammar, "%s = %s;", name, value.data);
    return grammar_line(grammar, "for (l_t = %s; l_t > 1u; l_t >>= 1) g_3 += l_t;", value.data);
}

// At most five statements without a loop, unless C09 is violated.
static struct error *put_guarded(struct grammar *grammar, bool small)
{
    bool loop = !small && grammar_pick(grammar, 2) == 0;
    unsigned count = loop ? 1 : small ? 1 + grammar_pick(grammar, 5) : 6 + grammar_pick(grammar, 3);
    if (loop) {
        TRY(grammar_block(grammar, "for (k_target = 0u; k_target < 3u; k_target++)"));
        TRY(grammar_assignment(grammar));
        TRY(grammar_end(grammar, ""));
    }
    for (unsigned i = 0; i < count; i++)
        TRY(grammar_statement(grammar));
    return NULL;
}

static struct error *put_if(struct grammar *grammar)
{
    static const char *const signs[] = {"+", "-", "*", "^", "<", ">", NULL};
    _cleanup_(buffer_deinit) struct buffer condition = {0}, head = {0};
    unsigned violated = grammar->parameters->violated;
    bool other = grammar->parameters->kind == MODEL_MIEB || violated == 8;
    TRY(grammar_expression(grammar, signs, &condition));
    TRY(buffer_printf(&head, "if (%s)", condition.data));
    TRY(grammar_block(grammar, head.data));
    TRY(put_guarded(grammar, violated != 9));
    if (other) {
        grammar->depth--;
        TRY(grammar_block(grammar, "} else"));
        TRY(grammar_assignment(grammar));
        TRY(grammar_assignment(grammar));
    }
    grammar->program->expected = violated == 0;
    return grammar_end(grammar, "");
}

// Each operand of the condition is one fault.
static struct error *put_condition(struct grammar *grammar, const char *sign)
{
    const char *const signs[] = {sign, NULL};
    _cleanup_(buffer_deinit) struct buffer condition = {0}, head = {0};
    TRY(grammar_expression(grammar, signs, &condition));
    TRY(buffer_printf(&head, "if (%s)", condition.data));
    TRY(grammar_block(grammar, head.data));
    TRY(grammar_assignment(grammar));
    grammar->program->expected = terms_of(grammar->parameters->complexity);
    return grammar_end(grammar, "");
}

// A part of an algorithm. With C10 violated, control statements stand between the others; with C02,
// two statements are the whole block.
static struct error *put_part(struct grammar *grammar)
{
    unsigned violated = grammar->parameters->violated;
    unsigned count = violated == 2 ? 2 : 2 + grammar_pick(grammar, 4);
    for (unsigned i = 0; i < count; i++) {
        _cleanup_(buffer_deinit) struct buffer value = {0};
        TRY(grammar_expression(grammar, any_sign, &value));
        if (violated == 10 && i > 0)
            TRY(grammar_line(grammar, "if (g_%u > 3u) g_3 += 1u;",
                             grammar_pick(grammar, GRAMMAR_GLOBALS)));
        TRY(grammar_line(grammar, "g_%u = %s;", grammar_pick(grammar, GRAMMAR_GLOBALS),
                         value.data));
    }
    grammar->program->expected = violated == 0 ? count - 1 : 0;
    return NULL;
}

// WPFV: arguments that are variables; what is random are expressions.
static struct error *put_variables(struct grammar *grammar)
{
    const struct generate_parameters *parameters = grammar->parameters;
    _cleanup_(buffer_deinit) struct buffer arguments = {0};
    bool random = parameters->complexity >= GENERATE_ONE_AND_RANDOM;
    unsigned count = terms_of(parameters->complexity);
    for (unsigned i = 0; i < count; i++) {
        TRY(buffer_printf(&arguments, "%s", i > 0 ? ", " : ""));
        TRY(random && i > 0 ? grammar_random(grammar, &arguments)
                            : grammar_operand(grammar, parameters->operand, &arguments));
    }
    grammar->program->expected = parameters->violated != 0 ? 0 : random ? 1 : count;
    return grammar_line(grammar, "func_%u(%s);", count, arguments.data);
}

// WAEP: of each argument the outermost operator.
static struct error *put_arithmetic(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer arguments = {0};
    unsigned count = 1 + grammar_pick(grammar, GRAMMAR_FUNCTIONS - 1);
    for (unsigned i = 0; i < count; i++) {
        TRY(buffer_printf(&arguments, "%s", i > 0 ? ", " : ""));
        TRY(grammar_expression(grammar, arithmetic, &arguments));
    }
    grammar->program->expected = count;
    return grammar_line(grammar, "func_%u(%s);", count, arguments.data);
}

struct error *target_put(struct grammar *grammar)
{
    switch (grammar->parameters->kind) {
    case MODEL_MFC:
        return put_call(grammar);
    case MODEL_MIA:
    case MODEL_MIFS:
    case MODEL_MIEB:
        return put_if(grammar);
    case MODEL_MLAC:
        return put_condition(grammar, "&&");
    case MODEL_MLOC:
        return put_condition(grammar, "||");
    case MODEL_MLPA:
        return put_part(grammar);
    case MODEL_WPFV:
        return put_variables(grammar);
    case MODEL_WAEP:
        return put_arithmetic(grammar);
    default:
        return put_assignment(grammar);
    }
}
