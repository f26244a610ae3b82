// SPDX-License-Identifier: GPL-3.0-or-later
// Parses expressions by recursive descent, one function per level of precedence, loosest first:
// or, and, not, comparisons and `in`, | , ^, &, shifts, + -, * / %, unary. Unlike C, the bitwise
// operators bind tighter than comparisons, so that `arg(2) & O_CREAT == O_CREAT` means what it
// says.
#include "scenario/expression.h"

#include "base/cleanup.h"
#include "scenario/parser.h"
#include "scenario/trigger-kind.h"

#include <string.h>

static struct error *enter(struct parser *parser)
{
    if (++parser->depth > SCENARIO_NEST_LIMIT)
        return parser_error(parser, parser->lexer.token.start,
                            "this condition is nested too deeply (more than %u levels)",
                            SCENARIO_NEST_LIMIT);
    return NULL;
}

static struct error *unknown_word(struct parser *parser)
{
    const struct token *token = &parser->lexer.token;
    const char *word = parser->lexer.source->text + token->start;
    size_t size = token->end - token->start;
    struct suggestion suggestion = suggestion_start(word, size);
    for (size_t i = 0; i < parser->words->count; i++)
        suggestion_offer(&suggestion, parser->words->triggers[i]->about.name);
    for (size_t i = 0; i < constant_count(); i++)
        suggestion_offer(&suggestion, constant_at(i)->name);
    static const char *const reserved[] = {"and", "or", "not", "in", "when"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        suggestion_offer(&suggestion, reserved[i]);
    char storage[SUGGESTION_SIZE];
    return parser_error(parser, token->start, "unknown word '%.*s'%s; %s shows what there is",
                        size < 60 ? (int)size : 60, word, suggestion_text(&suggestion, storage),
                        parser->words->where);
}

static const struct trigger_kind *find_trigger(const struct vocabulary *words, const char *name,
                                               size_t size)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *candidate = words->triggers[i]->about.name;
        if (strncmp(candidate, name, size) == 0 && candidate[size] == '\0')
            return words->triggers[i];
    }
    return NULL;
}

static struct error *parse_name(struct parser *parser, const struct expression **ret_node)
{
    const struct token token = parser->lexer.token;
    const char *word = parser->lexer.source->text + token.start;
    size_t size = token.end - token.start;
    struct expression *node = NULL;
    const struct trigger_kind *trigger = find_trigger(parser->words, word, size);
    const struct constant *constant = trigger == NULL ? constant_find(word, size) : NULL;
    if (trigger == NULL && constant == NULL)
        return unknown_word(parser);
    TRY(node_new(parser, trigger != NULL ? EXPRESSION_TRIGGER : EXPRESSION_CONSTANT, token.start,
                 &node));
    TRY(lexer_next(&parser->lexer));
    *ret_node = node;
    if (constant != NULL) {
        node->number = constant->value;
        return NULL;
    }
    node->trigger = trigger;
    node->sees_calls = trigger->sees_calls;
    if (trigger->parse != NULL)
        return trigger->parse(parser, node);
    if (parser->lexer.token.kind == (enum token_kind)'(')
        return parser_error(parser, parser->lexer.token.start,
                            "'%s' takes nothing in parentheses; its syntax is: %s",
                            trigger->about.name, trigger->about.syntax);
    return NULL;
}

static struct error *parse_reference(struct parser *parser, const struct expression **ret_node)
{
    size_t start = parser->lexer.token.start;
    TRY(lexer_next(&parser->lexer));
    const struct token token = parser->lexer.token;
    if (token.kind != TOKEN_NAME || token.start != start + 1)
        return lexer_unexpected(&parser->lexer, "the name of a trigger right after '@'");
    const char *word = parser->lexer.source->text + token.start;
    size_t size = token.end - token.start;
    struct text name;
    TRY(scenario_text(parser->scenario, word, size, &name));
    uint32_t found =
        parser->names != NULL ? map_find(&parser->names->by_name, name.offset) : MAP_NONE;
    if (found == MAP_NONE) {
        struct suggestion suggestion = suggestion_start(word, size);
        for (size_t i = 0; parser->names != NULL && i < parser->names->list.count; i++)
            suggestion_offer(&suggestion, parser->names->list.items[i].name.chars);
        char storage[SUGGESTION_SIZE];
        return parser_error(parser, start,
                            "no trigger named '%s' is defined before this%s; name triggers under "
                            "'triggers:' of a scenario file",
                            name.chars, suggestion_text(&suggestion, storage));
    }
    struct expression *node = NULL;
    TRY(node_new(parser, EXPRESSION_REFERENCE, start, &node));
    node->left = parser->names->list.items[found].expression;
    node->source = parser->names->list.items[found].source;
    node_inherit(node);
    *ret_node = node;
    return lexer_next(&parser->lexer);
}

static struct error *parse_number(struct parser *parser, const struct expression **ret_node)
{
    const struct token *token = &parser->lexer.token;
    const char *digits = parser->lexer.source->text + token->start;
    bool is_hex = token->end - token->start > 1 && (digits[1] == 'x' || digits[1] == 'X');
    if (token->integer > INT64_MAX && !is_hex)
        return parser_error(parser, token->start,
                            "this number is above the largest signed one; write it in hexadecimal");
    struct expression *node = NULL;
    TRY(node_new(parser, EXPRESSION_CONSTANT, token->start, &node));
    node->number = (int64_t)token->integer;
    node->has_unit = token->kind == TOKEN_DURATION;
    *ret_node = node;
    return lexer_next(&parser->lexer);
}

static struct error *parse_primary(struct parser *parser, const struct expression **ret_node)
{
    const struct token *token = &parser->lexer.token;
    switch ((int)token->kind) {
    case TOKEN_INTEGER:
    case TOKEN_DURATION:
        return parse_number(parser, ret_node);
    case TOKEN_REAL:
        return parser_error(parser, token->start,
                            "only whole numbers and durations can be compared");
    case TOKEN_NAME:
        return parse_name(parser, ret_node);
    case '@':
        return parse_reference(parser, ret_node);
    case TOKEN_TEXT: {
        struct expression *node = NULL;
        TRY(node_new(parser, EXPRESSION_TEXT, token->start, &node));
        node->text = token->text;
        node->glob = token->glob;
        *ret_node = node;
        return lexer_next(&parser->lexer);
    }
    case '(':
        TRY(enter(parser));
        TRY(lexer_next(&parser->lexer));
        TRY(parse_expression(parser, ret_node));
        parser->depth--;
        return parse_close(parser);
    default:
        return lexer_unexpected(&parser->lexer, "a condition or a value");
    }
}

struct error *parse_unary(struct parser *parser, const struct expression **ret_node)
{
    size_t start = parser->lexer.token.start;
    enum wire_op op;
    switch ((int)parser->lexer.token.kind) {
    case '-':
        op = WIRE_OP_NEGATE;
        break;
    case '~':
        op = WIRE_OP_COMPLEMENT;
        break;
    case '!':
        op = WIRE_OP_NOT;
        break;
    default:
        return parse_primary(parser, ret_node);
    }
    TRY(enter(parser));
    TRY(lexer_next(&parser->lexer));
    const struct expression *operand = NULL;
    TRY(parse_unary(parser, &operand));
    parser->depth--;
    return node_unary(parser, op, start, operand, ret_node);
}

struct level {
    struct {
        int token;
        enum wire_op op;
    } operators[4];
};

// Arithmetic, loosest first.
static const struct level levels[] = {
    {{{'|', WIRE_OP_OR}}},
    {{{'^', WIRE_OP_XOR}}},
    {{{'&', WIRE_OP_AND}}},
    {{{TOKEN_SHIFT_LEFT, WIRE_OP_SHIFT_LEFT}, {TOKEN_SHIFT_RIGHT, WIRE_OP_SHIFT_RIGHT}}},
    {{{'+', WIRE_OP_ADD}, {'-', WIRE_OP_SUBTRACT}}},
    {{{'*', WIRE_OP_MULTIPLY}, {'/', WIRE_OP_DIVIDE}, {'%', WIRE_OP_REMAINDER}}},
};
#define LEVELS (sizeof levels / sizeof *levels)

static bool level_operator(size_t level, enum token_kind kind, enum wire_op *ret_op)
{
    for (size_t i = 0; i < 4 && levels[level].operators[i].token != 0; i++)
        if (levels[level].operators[i].token == (int)kind) {
            *ret_op = levels[level].operators[i].op;
            return true;
        }
    return false;
}

static struct error *parse_level(struct parser *parser, size_t level,
                                 const struct expression **ret_node)
{
    if (level == LEVELS)
        return parse_unary(parser, ret_node);
    const struct expression *left = NULL;
    TRY(parse_level(parser, level + 1, &left));
    enum wire_op op;
    while (level_operator(level, parser->lexer.token.kind, &op)) {
        size_t start = parser->lexer.token.start;
        TRY(lexer_next(&parser->lexer));
        const struct expression *right = NULL;
        TRY(parse_level(parser, level + 1, &right));
        TRY(node_binary(parser, op, start, left, right, &left));
    }
    *ret_node = left;
    return NULL;
}

struct error *parse_arithmetic(struct parser *parser, const struct expression **ret_node)
{
    return parse_level(parser, 0, ret_node);
}

static struct error *parse_not(struct parser *parser, const struct expression **ret_node)
{
    if (parser->lexer.token.kind != TOKEN_NOT)
        return parse_comparison(parser, ret_node);
    size_t start = parser->lexer.token.start;
    TRY(enter(parser));
    TRY(lexer_next(&parser->lexer));
    const struct expression *operand = NULL;
    TRY(parse_not(parser, &operand));
    parser->depth--;
    return node_unary(parser, WIRE_OP_NOT, start, operand, ret_node);
}

static struct error *parse_logical(struct parser *parser, enum token_kind token,
                                   const struct expression **ret_node)
{
    bool is_or = token == TOKEN_OR;
    const struct expression *left = NULL, *right = NULL;
    TRY(is_or ? parse_logical(parser, TOKEN_AND, &left) : parse_not(parser, &left));
    while (parser->lexer.token.kind == token) {
        size_t start = parser->lexer.token.start;
        TRY(lexer_next(&parser->lexer));
        TRY(is_or ? parse_logical(parser, TOKEN_AND, &right) : parse_not(parser, &right));
        struct expression *node = NULL;
        TRY(node_new(parser, is_or ? EXPRESSION_OR : EXPRESSION_AND, start, &node));
        node->left = left;
        node->right = right;
        node_inherit(node);
        left = node;
    }
    *ret_node = left;
    return NULL;
}

struct error *parse_expression(struct parser *parser, const struct expression **ret_expression)
{
    return parse_logical(parser, TOKEN_OR, ret_expression);
}

struct error *expression_parse(struct scenario *scenario, const struct source *source,
                               const struct named_triggers *names,
                               const struct expression **ret_expression)
{
    struct parser parser;
    TRY(parser_start(&parser, scenario, source, 0, names));
    const struct expression *expression = NULL;
    TRY(parse_expression(&parser, &expression));
    if (parser.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&parser.lexer, "'and', 'or' or the end of the condition");
    *ret_expression = expression;
    return NULL;
}
