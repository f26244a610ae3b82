// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions and statements. All arithmetic is unsigned and divides nothing, so that every program
// and every mutant of it is defined, except for variables that never got a value.
#include "mutate/generate/grammar.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>

unsigned grammar_pick(struct grammar *grammar, unsigned limit)
{
    // splitmix64
    uint64_t word = grammar->random += 0x9e3779b97f4a7c15ull;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return (unsigned)((word ^ word >> 31) >> 33) % limit;
}

struct error *grammar_line(struct grammar *grammar, const char *format, ...)
{
    struct buffer *text = &grammar->program->text;
    _cleanup_free_ char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (size < 0)
        return line = NULL, error_no_memory();
    grammar->line++;
    return size > 0 ? buffer_printf(text, "%*s%s\n", (int)grammar->depth * 4, "", line)
                    : buffer_append(text, "\n", 1);
}

struct error *grammar_block(struct grammar *grammar, const char *head)
{
    TRY(grammar_line(grammar, "%s {", head));
    grammar->depth++;
    return NULL;
}

struct error *grammar_end(struct grammar *grammar, const char *tail)
{
    grammar->depth--;
    return grammar_line(grammar, "}%s", tail);
}

// ---- expressions ----

// One of so many variables. A compiler works out `l_1 - l_1` and the like itself, so an expression
// has each variable once, as long as there are others.
static unsigned pick_variable(struct grammar *grammar, unsigned limit, unsigned *used)
{
    unsigned number = grammar_pick(grammar, limit);
    for (unsigned i = 0; i < limit && (*used >> number & 1) != 0; i++)
        number = (number + 1) % limit;
    *used |= 1u << number;
    return number;
}

static struct error *put_local(struct grammar *grammar, struct buffer *text)
{
    return buffer_printf(text, "l_%u",
                         pick_variable(grammar, grammar->locals, &grammar->used_locals));
}

static struct error *put_global(struct grammar *grammar, struct buffer *text)
{
    return buffer_printf(text, "g_%u",
                         pick_variable(grammar, GRAMMAR_GLOBALS, &grammar->used_globals));
}

static struct error *put_variable(struct grammar *grammar, struct buffer *text)
{
    bool local = grammar->locals > 0 && grammar_pick(grammar, 2) == 0;
    return local ? put_local(grammar, text) : put_global(grammar, text);
}

struct error *grammar_operand(struct grammar *grammar, enum generate_operand operand,
                              struct buffer *text)
{
    switch (operand) {
    case GENERATE_CONSTANT:
        return buffer_printf(text, "%uu", 2 + grammar_pick(grammar, 1000));
    case GENERATE_LOCAL:
        return put_local(grammar, text);
    case GENERATE_GLOBAL:
        return put_global(grammar, text);
    default:
        return grammar_pick(grammar, 2) == 0
                   ? buffer_printf(text, "func_0()")
                   : buffer_printf(text, "func_1(g_%u)", grammar_pick(grammar, GRAMMAR_GLOBALS));
    }
}

static struct error *put_random(struct grammar *grammar, struct buffer *text)
{
    static const char *const signs[] = {"+", "*", "^", "-", "&", "|"};
    bool argument = grammar->parameters->kind == MODEL_WAEP;
    unsigned kind = grammar_pick(grammar, 4);
    // A compiler makes a + (c - b) of a - (b - c), moves constants out of sums, and knows bits of x
    // & 7 and x | 7.
    if (kind == 2 && argument)
        kind = 3;
    TRY(buffer_printf(text, "("));
    TRY(put_variable(grammar, text));
    TRY(buffer_printf(text, " %s ",
                      signs[grammar_pick(grammar, argument    ? 3
                                                  : kind == 2 ? 4
                                                              : 6)]));
    if (kind == 0)
        TRY(put_random(grammar, text));
    else if (kind == 1 && !grammar->plain)
        TRY(buffer_printf(text, "func_0()"));
    else if (kind == 2)
        TRY(grammar_operand(grammar, GENERATE_CONSTANT, text));
    else
        TRY(put_variable(grammar, text));
    return buffer_printf(text, ")");
}

struct error *grammar_random(struct grammar *grammar, struct buffer *text)
{
    grammar->used_locals = grammar->used_globals = 0;
    return put_random(grammar, text);
}

struct error *grammar_expression(struct grammar *grammar, const char *const *signs,
                                 struct buffer *text)
{
    enum generate_complexity complexity = grammar->parameters->complexity;
    bool random = complexity >= GENERATE_ONE_AND_RANDOM;
    unsigned terms = complexity == GENERATE_ONE              ? 1
                     : complexity == GENERATE_TWO            ? 2
                     : complexity == GENERATE_ONE_AND_RANDOM ? 2
                                                             : 3;
    unsigned count = 0;
    while (signs[count] != NULL)
        count++;
    grammar->used_locals = grammar->used_globals = 0;
    for (unsigned i = 0; i < terms; i++) {
        if (i > 0)
            TRY(buffer_printf(text, " %s ", signs[grammar_pick(grammar, count)]));
        TRY(random && i > 0 ? put_random(grammar, text)
                            : grammar_operand(grammar, grammar->parameters->operand, text));
    }
    return NULL;
}

// ---- statements ----

struct error *grammar_assignment(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer value = {0};
    TRY(grammar_random(grammar, &value));
    return grammar_line(grammar, "g_%u = %s;", grammar_pick(grammar, GRAMMAR_GLOBALS), value.data);
}

struct error *grammar_statement(struct grammar *grammar)
{
    return grammar_pick(grammar, 4) == 0
               ? grammar_line(grammar, "func_1(g_%u);", grammar_pick(grammar, GRAMMAR_GLOBALS))
               : grammar_assignment(grammar);
}

struct error *grammar_company(struct grammar *grammar)
{
    _cleanup_(buffer_deinit) struct buffer condition = {0}, head = {0};
    // Beside a part of an algorithm, a simple statement would belong to it.
    if (grammar->parameters->kind != MODEL_MLPA && grammar_pick(grammar, 2) == 0)
        return grammar_statement(grammar);
    TRY(grammar_random(grammar, &condition));
    TRY(buffer_printf(&head, "if (%s > %uu)", condition.data, grammar_pick(grammar, 100)));
    TRY(grammar_block(grammar, head.data));
    TRY(grammar_statement(grammar));
    TRY(grammar_statement(grammar));
    return grammar_end(grammar, "");
}
