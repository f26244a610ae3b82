// SPDX-License-Identifier: GPL-3.0-or-later
// The program around the target: globals, functions to call, a function before and one after the
// target's, a preamble, a context and a postamble inside it, and a checksum of all globals at the
// end.
#include "mutate/generate/grammar.h"

#include "base/cleanup.h"

static struct error *put_globals(struct grammar *grammar)
{
    TRY(grammar_line(grammar, "int printf(const char *, ...);"));
    TRY(grammar_line(grammar, "%s", ""));
    for (unsigned i = 0; i < GRAMMAR_GLOBALS; i++)
        TRY(grammar_line(grammar, "static unsigned g_%u = %uu;", i,
                         i == 0 ? 0 : 1 + grammar_pick(grammar, 500)));
    return grammar_line(grammar, "%s", "");
}

static struct error *put_functions(struct grammar *grammar)
{
    static const char *const heads[GRAMMAR_FUNCTIONS] = {
        "static unsigned func_0(void)",
        "static unsigned func_1(unsigned a)",
        "static unsigned func_2(unsigned a, unsigned b)",
        "static unsigned func_3(unsigned a, unsigned b, unsigned c)",
    };
    static const char *const sums[GRAMMAR_FUNCTIONS] = {"1u", "a", "a * 3u ^ b",
                                                        "(a * 5u ^ b) * 7u ^ c"};
    for (unsigned i = 0; i < GRAMMAR_FUNCTIONS; i++) {
        unsigned global = 1 + grammar_pick(grammar, GRAMMAR_GLOBALS - 1);
        TRY(grammar_line(grammar, "%s", heads[i]));
        TRY(grammar_line(grammar, "{"));
        grammar->depth++;
        TRY(grammar_line(grammar, "g_%u = g_%u * 31u + (%s);", global, global, sums[i]));
        TRY(grammar_line(grammar, "return g_%u ^ %uu;", global, grammar_pick(grammar, 64)));
        TRY(grammar_end(grammar, ""));
        TRY(grammar_line(grammar, "%s", ""));
    }
    return NULL;
}

// A function that changes globals.
static struct error *put_other(struct grammar *grammar, const char *name)
{
    TRY(grammar_line(grammar, "static void %s(void)", name));
    TRY(grammar_line(grammar, "{"));
    grammar->depth++;
    for (unsigned i = 0, count = 2 + grammar_pick(grammar, 4); i < count; i++)
        TRY(grammar_pick(grammar, 3) == 0 ? grammar_company(grammar) : grammar_assignment(grammar));
    TRY(grammar_end(grammar, ""));
    return grammar_line(grammar, "%s", "");
}

// ---- the target's function ----

// C02 is violated: the target is all there is in its block.
static bool is_alone(const struct grammar *grammar)
{
    return grammar->parameters->violated == 2;
}

// Its block is the function's body, so that what it reads are parameters. Braces alone would leave
// no trace in machine code.
static bool is_alone_in_function(const struct grammar *grammar)
{
    return is_alone(grammar) && grammar->parameters->context == GENERATE_NONE;
}

// Whether the variable that the target assigns to has a value before.
static bool is_assigned_before(const struct generate_parameters *parameters)
{
    uint32_t constraints = model_types[parameters->kind].constraints;
    return constraints & MODEL_C07 ? parameters->violated != 7 : parameters->violated == 4;
}

static bool has_own_variable(const struct generate_parameters *parameters)
{
    return parameters->kind == MODEL_MVIV || parameters->kind == MODEL_MVAV ||
           parameters->kind == MODEL_MVAE || parameters->kind == MODEL_WVAV;
}

// Opens one context. The target runs: conditions are true, or false for what stands after else.
// Counters are global: C11 counts variables of the function.
static struct error *open_context(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer head = {0}, value = {0};
    unsigned loop = grammar->loops++;
    TRY(grammar_random(grammar, &value));
    switch (grammar->parameters->context) {
    case GENERATE_NONE:
        return NULL;
    case GENERATE_WHILE:
        TRY(buffer_printf(&head, "while (k_%u++ < %uu)", loop, 1 + grammar_pick(grammar, 3)));
        return grammar_block(grammar, head.data);
    case GENERATE_FOR:
        TRY(buffer_printf(&head, "for (k_%u = 0u; k_%u < %uu; k_%u++)", loop, loop,
                          1 + grammar_pick(grammar, 3), loop));
        return grammar_block(grammar, head.data);
    case GENERATE_IF:
    case GENERATE_IF_BEFORE:
        TRY(buffer_printf(&head, "if ((%s | k_one) != 0u)", value.data));
        return grammar_block(grammar, head.data);
    default:
        TRY(buffer_printf(&head, "if ((%s | k_one) == 0u)", value.data));
        TRY(grammar_block(grammar, head.data));
        TRY(grammar_assignment(grammar));
        TRY(grammar_company(grammar));
        grammar->depth--;
        return grammar_block(grammar, "} else");
    }
}

static struct error *close_context(struct grammar *grammar)
{
    if (grammar->parameters->context == GENERATE_NONE)
        return NULL;
    if (grammar->parameters->context != GENERATE_IF_BEFORE)
        return grammar_end(grammar, "");
    grammar->depth--;
    TRY(grammar_block(grammar, "} else"));
    TRY(grammar_assignment(grammar));
    return grammar_end(grammar, "");
}

static struct error *put_marked_target(struct grammar *grammar)
{
    const struct model_type *type = &model_types[grammar->parameters->kind];
    TRY(grammar_line(grammar, "// target begins: %s", type->field));
    grammar->program->first = grammar->line + 1;
    TRY(target_put(grammar));
    grammar->program->last = grammar->line;
    return grammar_line(grammar, "// target ends");
}

static struct error *put_declarations(struct grammar *grammar)
{
    const struct generate_parameters *parameters = grammar->parameters;
    // C11 is violated: the function has one variable.
    unsigned count = parameters->violated == 11 ? 1 : GRAMMAR_LOCALS;
    for (unsigned i = 0; i < count; i++)
        TRY(grammar_line(grammar, "unsigned l_%u = g_%u + %uu;", i,
                         grammar_pick(grammar, GRAMMAR_GLOBALS), grammar_pick(grammar, 100)));
    grammar->locals = count;
    if (!has_own_variable(parameters))
        return NULL;
    return is_assigned_before(parameters)
               ? grammar_line(grammar, "unsigned l_t = %uu;", grammar_pick(grammar, 100))
               : grammar_line(grammar, "unsigned l_t;");
}

static struct error *put_body(struct grammar *grammar)
{
    bool alone = is_alone(grammar);
    unsigned depth =
        grammar->parameters->context == GENERATE_NONE ? 0 : grammar->parameters->nesting + 1;
    for (unsigned i = 0; i < depth; i++) {
        TRY(open_context(grammar));
        if (!alone && i + 1 < depth)
            TRY(grammar_company(grammar));
    }
    if (!alone)
        TRY(grammar_company(grammar));
    TRY(put_marked_target(grammar));
    if (!alone)
        TRY(grammar_company(grammar));
    for (unsigned i = 0; i < depth; i++)
        TRY(close_context(grammar));
    return NULL;
}

static struct error *put_lonely_function(struct grammar *grammar)
{
    bool own = has_own_variable(grammar->parameters);
    bool assigned = own && is_assigned_before(grammar->parameters);
    TRY(grammar_line(grammar,
                     "static void func(unsigned l_0, unsigned l_1, unsigned l_2, unsigned l_3%s)",
                     assigned ? ", unsigned l_t" : ""));
    TRY(grammar_line(grammar, "{"));
    grammar->depth++;
    if (own && !assigned)
        TRY(grammar_line(grammar, "unsigned l_t;"));
    grammar->locals = GRAMMAR_LOCALS;
    TRY(put_body(grammar));
    TRY(grammar_end(grammar, ""));
    grammar->locals = 0;
    return grammar_line(grammar, "%s", "");
}

static struct error *put_target_function(struct grammar *grammar)
{
    const struct generate_parameters *parameters = grammar->parameters;
    for (unsigned i = 0; i <= GENERATE_DEEPEST; i++)
        TRY(grammar_line(grammar, "static unsigned k_%u;", i));
    TRY(grammar_line(grammar, "static unsigned k_target;"));
    TRY(grammar_line(grammar, "static volatile unsigned k_one = 1u;"));
    if (is_alone_in_function(grammar))
        return put_lonely_function(grammar);
    TRY(grammar_line(grammar, "static void func(void)"));
    TRY(grammar_line(grammar, "{"));
    grammar->depth++;
    TRY(put_declarations(grammar));
    TRY(grammar_assignment(grammar));
    TRY(grammar_company(grammar));
    TRY(put_body(grammar));
    TRY(grammar_assignment(grammar));
    if (has_own_variable(parameters))
        TRY(grammar_line(grammar, "g_4 = g_4 * 3u + l_t;"));
    for (unsigned i = 0; i < grammar->locals; i++)
        TRY(grammar_line(grammar, "g_3 = g_3 * 5u + l_%u;", i));
    TRY(grammar_end(grammar, ""));
    grammar->locals = 0;
    return grammar_line(grammar, "%s", "");
}

// A mutant that leaves out the first assignment of a variable reads what is on the stack. This
// makes it the same in all runs.
static struct error *put_clear(struct grammar *grammar)
{
    TRY(grammar_line(grammar, "static void clear(void)"));
    TRY(grammar_line(grammar, "{"));
    grammar->depth++;
    TRY(grammar_line(grammar, "volatile unsigned room[256];"));
    TRY(grammar_line(grammar, "for (k_0 = 0u; k_0 < 256u; k_0++)"));
    TRY(grammar_line(grammar, "    room[k_0] = 0u;"));
    TRY(grammar_line(grammar, "k_0 = 0u;"));
    TRY(grammar_end(grammar, ""));
    return grammar_line(grammar, "%s", "");
}

static struct error *put_main(struct grammar *grammar)
{
    bool alone = is_alone_in_function(grammar);
    bool assigned =
        has_own_variable(grammar->parameters) && is_assigned_before(grammar->parameters);
    TRY(grammar_line(grammar, "int main(void)"));
    TRY(grammar_line(grammar, "{"));
    grammar->depth++;
    TRY(grammar_line(grammar, "unsigned sum = 0u;"));
    TRY(grammar_line(grammar, "before();"));
    TRY(grammar_line(grammar, "clear();"));
    TRY(grammar_line(grammar, "func(%s%s);", alone ? "g_1, g_2, g_3, g_4" : "",
                     alone && assigned ? ", g_5" : ""));
    TRY(grammar_line(grammar, "after();"));
    for (unsigned i = 0; i < GRAMMAR_GLOBALS; i++)
        TRY(grammar_line(grammar, "sum = sum * 16777619u ^ g_%u;", i));
    TRY(grammar_line(grammar, "printf(\"checksum %%08x\\n\", sum);"));
    TRY(grammar_line(grammar, "return 0;"));
    return grammar_end(grammar, "");
}

struct error *generate_program(const struct generate_parameters *parameters, uint64_t seed,
                               struct generate_program *ret_program)
{
    _cleanup_(generate_program_deinit) struct generate_program program = {0};
    struct grammar grammar = {
        .parameters = parameters,
        .program = &program,
        .random = seed,
        .plain = parameters->kind == MODEL_WPFV,
    };
    // Programs of one seed differ in more than their parameters.
    const unsigned words[] = {parameters->kind,    parameters->violated, parameters->context,
                              parameters->nesting, parameters->operand,  parameters->complexity};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        grammar.random = (grammar.random + words[i] + 1) * 0x9e3779b97f4a7c15ull;
    TRY(grammar_line(&grammar,
                     "// %s, violated: C%02u, context: %s, nesting: %u, operand: %s, "
                     "complexity: %s",
                     model_types[parameters->kind].field, parameters->violated,
                     generate_context_word(parameters->context), parameters->nesting,
                     generate_operand_word(parameters->operand),
                     generate_complexity_word(parameters->complexity)));
    TRY(put_globals(&grammar));
    TRY(put_functions(&grammar));
    TRY(put_other(&grammar, "before"));
    TRY(put_target_function(&grammar));
    TRY(put_other(&grammar, "after"));
    TRY(put_clear(&grammar));
    TRY(put_main(&grammar));
    *ret_program = program;
    program = (struct generate_program){0};
    return NULL;
}

void generate_program_deinit(struct generate_program *program)
{
    buffer_deinit(&program->text);
}
