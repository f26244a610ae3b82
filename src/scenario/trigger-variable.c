// SPDX-License-Identifier: GPL-3.0-or-later
// The trigger about the program's own variables: var(...), and the parser of variable names.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <string.h>

#define STEP_LIMIT 32

struct variable_reader {
    struct parser *parser;
    const char *text; // of the source
    size_t at, end;
    struct scenario_step steps[STEP_LIMIT];
    size_t step_count;
    unsigned depth;
    struct scenario_variable *variable;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct variable_reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", reader->text[reader->at]) != NULL)
        reader->at++;
}

static bool accept(struct variable_reader *reader, const char *word)
{
    skip_blanks(reader);
    size_t size = strlen(word);
    if (reader->end - reader->at < size || memcmp(reader->text + reader->at, word, size) != 0)
        return false;
    reader->at += size;
    return true;
}

static struct error *complain(struct variable_reader *reader, const char *wanted)
{
    if (reader->at >= reader->end)
        return parser_error(reader->parser, reader->at, "expected %s", wanted);
    char c = reader->text[reader->at];
    if (strchr("=<>!&|", c) != NULL)
        return parser_error(reader->parser, reader->at,
                            "var() names one variable; compare outside: var(a) == var(b)");
    return parser_error(reader->parser, reader->at, "expected %s in var(...)", wanted);
}

static struct error *read_name(struct variable_reader *reader, const char **ret_name)
{
    skip_blanks(reader);
    size_t start = reader->at;
    while (reader->at < reader->end && is_name(reader->text[reader->at]))
        reader->at++;
    if (reader->at == start || (reader->text[start] >= '0' && reader->text[start] <= '9')) {
        reader->at = start;
        return complain(reader, "a name");
    }
    *ret_name =
        arena_copy(&reader->parser->scenario->arena, reader->text + start, reader->at - start);
    return *ret_name != NULL ? NULL : error_no_memory();
}

static struct error *add_step(struct variable_reader *reader, enum scenario_step_kind kind,
                              const char *name, int64_t index)
{
    if (reader->step_count == STEP_LIMIT)
        return parser_error(reader->parser, reader->at, "more than %d steps from the variable",
                            STEP_LIMIT);
    reader->steps[reader->step_count++] = (struct scenario_step){kind, name, index};
    return NULL;
}

static struct error *read_index(struct variable_reader *reader)
{
    skip_blanks(reader);
    uint64_t index = 0;
    size_t start = reader->at;
    while (reader->at < reader->end && reader->text[reader->at] >= '0' &&
           reader->text[reader->at] <= '9') {
        index = index * 10 + (uint64_t)(reader->text[reader->at++] - '0');
        if (index > UINT32_MAX)
            return parser_error(reader->parser, start, "this index is too large");
    }
    if (reader->at == start || !accept(reader, "]"))
        return complain(reader, "a number and ']'");
    return add_step(reader, SCENARIO_STEP_INDEX, NULL, (int64_t)index);
}

static struct error *read_expression(struct variable_reader *reader);

// [function::]name; of several '::' the last one separates function and variable.
static struct error *read_qualified(struct variable_reader *reader)
{
    skip_blanks(reader);
    size_t start = reader->at, function_end = start;
    TRY(read_name(reader, &reader->variable->name));
    while (reader->end - reader->at > 2 && memcmp(reader->text + reader->at, "::", 2) == 0) {
        function_end = reader->at;
        reader->at += 2;
        TRY(read_name(reader, &reader->variable->name));
    }
    if (function_end == start)
        return NULL;
    reader->variable->function =
        arena_copy(&reader->parser->scenario->arena, reader->text + start, function_end - start);
    return reader->variable->function != NULL ? NULL : error_no_memory();
}

static struct error *read_postfix(struct variable_reader *reader)
{
    if (accept(reader, "(")) {
        TRY(read_expression(reader));
        if (!accept(reader, ")"))
            return complain(reader, "')'");
    } else {
        TRY(read_qualified(reader));
    }
    for (;;) {
        const char *name = NULL;
        if (accept(reader, "->")) {
            TRY(read_name(reader, &name));
            TRY(add_step(reader, SCENARIO_STEP_ARROW, name, 0));
        } else if (accept(reader, ".")) {
            TRY(read_name(reader, &name));
            TRY(add_step(reader, SCENARIO_STEP_MEMBER, name, 0));
        } else if (accept(reader, "[")) {
            TRY(read_index(reader));
        } else {
            return NULL;
        }
    }
}

// Prefix stars apply after everything to their right, as in C.
static struct error *read_expression(struct variable_reader *reader)
{
    if (++reader->depth > SCENARIO_NEST_LIMIT)
        return parser_error(reader->parser, reader->at, "var(...) is nested too deeply");
    if (accept(reader, "*")) {
        TRY(read_expression(reader));
        TRY(add_step(reader, SCENARIO_STEP_DEREFERENCE, NULL, 0));
    } else {
        TRY(read_postfix(reader));
    }
    reader->depth--;
    return NULL;
}

// MODULE! in front; a module's name may hold what a variable's cannot.
static struct error *read_module(struct variable_reader *reader)
{
    const char *start = reader->text + reader->at;
    const char *mark = memchr(start, '!', reader->end - reader->at);
    if (mark == NULL || mark == start || mark[1] == '=')
        return NULL;
    while (start < mark && strchr(" \t", *start) != NULL)
        start++;
    const char *end = mark;
    if (end - start > 1 && *start == '"' && end[-1] == '"') {
        start++;
        end--;
    }
    reader->variable->module =
        arena_copy(&reader->parser->scenario->arena, start, (size_t)(end - start));
    reader->at = (size_t)(mark + 1 - reader->text);
    return reader->variable->module != NULL ? NULL : error_no_memory();
}

static struct error *read_variable(struct variable_reader *reader)
{
    TRY(read_module(reader));
    TRY(read_expression(reader));
    skip_blanks(reader);
    if (reader->at != reader->end)
        return complain(reader, "'.', '->', '[' or ')'");
    struct scenario_step *steps =
        arena_alloc(&reader->parser->scenario->arena, reader->step_count * sizeof *steps);
    if (steps == NULL)
        return error_no_memory();
    if (reader->step_count != 0)
        memcpy(steps, reader->steps, reader->step_count * sizeof *steps);
    reader->variable->steps = steps;
    reader->variable->step_count = reader->step_count;
    return NULL;
}

// The ')' that closes the '(' just read.
static size_t find_close(const struct source *source, size_t at)
{
    for (unsigned depth = 1; at < source->size; at++) {
        if (source->text[at] == '(')
            depth++;
        else if (source->text[at] == ')' && --depth == 0)
            break;
    }
    return at;
}

static struct error *parse_var(struct parser *parser, struct expression *node)
{
    struct lexer *lexer = &parser->lexer;
    struct scenario *scenario = parser->scenario;
    if (lexer->token.kind != (enum token_kind)'(')
        return lexer_unexpected(lexer, "'(' after 'var'");
    size_t start = lexer->token.end, end = find_close(lexer->source, start);
    if (end == lexer->source->size)
        return parser_error(parser, lexer->token.start, "this '(' has no ')'");
    struct text text;
    TRY(scenario_text(scenario, lexer->source->text + start, end - start, &text));
    uint32_t found = map_find(&scenario->variable_map, text.offset);
    if (found == MAP_NONE) {
        struct scenario_variable variable = {.text = text.chars};
        struct variable_reader reader = {.parser = parser,
                                         .text = lexer->source->text,
                                         .at = start,
                                         .end = end,
                                         .variable = &variable};
        TRY(read_variable(&reader));
        struct scenario_variable *slot = ARRAY_ADD(&scenario->variables);
        if (slot == NULL)
            return error_no_memory();
        *slot = variable;
        found = (uint32_t)(scenario->variables.count - 1);
        TRY(map_put(&scenario->variable_map, text.offset, found));
    }
    node->number = found;
    lexer->at = end;
    TRY(lexer_next(lexer));
    return parse_close(parser);
}

static struct error *compile_var(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_VARIABLE, .b = (uint32_t)node->number});
}

const struct trigger_kind trigger_var = {
    .about =
        {
            .name = "var",
            .syntax = "var([MODULE!][FUNCTION::]NAME[.member][->member][[N]])",
            .summary = "the value of a variable of the program",
            .description =
                "A local of the innermost frame that has one of that name, or else a global; "
                "FUNCTION:: asks for a local of that function on the stack. Members, arrows, "
                "indexes, parentheses and a leading * work as in C. Without MODULE! it is looked "
                "for in the program and in libraries that carry debug information themselves. "
                "Locals, members and types need debug information. If the variable cannot be "
                "read, the rule does not fire.",
            .example = "accept=-1/EMFILE when var(numConnections) == var(maxConnections)",
        },
    .parse = parse_var,
    .compile = compile_var,
};
