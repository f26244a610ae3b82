// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers that all parse functions share (expression.h), and functions that make nodes (parser.h).
#include "scenario/parser.h"

#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <stdarg.h>
#include <string.h>

#define NODE_LIMIT 4096

void named_triggers_deinit(struct named_triggers *names)
{
    ARRAY_DEINIT(&names->list);
    map_deinit(&names->by_name);
}

struct error *named_triggers_add(struct named_triggers *names, struct named_trigger trigger)
{
    struct named_trigger *slot = ARRAY_ADD(&names->list);
    if (slot == NULL)
        return error_no_memory();
    *slot = trigger;
    return map_put(&names->by_name, trigger.name.offset, (uint32_t)(names->list.count - 1));
}

struct error *parser_start(struct parser *parser, struct scenario *scenario,
                           const struct source *source, size_t at,
                           const struct named_triggers *names)
{
    *parser = (struct parser){.scenario = scenario, .words = &trigger_vocabulary, .names = names};
    const char *nul = source->size != 0 ? memchr(source->text, '\0', source->size) : NULL;
    if (nul != NULL)
        return source_error(source, (size_t)(nul - source->text),
                            "a NUL byte has no place in a scenario");
    return lexer_start(&parser->lexer, source, &scenario->arena, &scenario->strings, at);
}

struct error *parser_error(const struct parser *parser, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    _cleanup_error_ struct error *what = error_new_va(format, args);
    va_end(args);
    return source_error(parser->lexer.source, offset, "%s", error_message(what));
}

struct error *node_new(struct parser *parser, enum expression_kind kind, size_t start,
                       struct expression **ret_node)
{
    if (++parser->nodes > NODE_LIMIT)
        return parser_error(parser, start, "this condition is too long (more than %u parts)",
                            NODE_LIMIT);
    struct expression *node = arena_alloc(&parser->scenario->arena, sizeof *node);
    if (node == NULL)
        return error_no_memory();
    node->kind = kind;
    node->start = start;
    *ret_node = node;
    return NULL;
}

void node_inherit(struct expression *node)
{
    const struct expression *children[] = {node->left, node->right, node->last, node->step};
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (children[i] != NULL && children[i]->sees_calls)
            node->sees_calls = true;
}

struct error *parse_open(struct parser *parser, const char *after)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "'(' after '%s'", after);
    return lexer_expect(&parser->lexer, (enum token_kind)'(', wanted);
}

struct error *parse_close(struct parser *parser)
{
    return lexer_expect(&parser->lexer, (enum token_kind)')', "')'");
}

struct error *parse_bounded(struct parser *parser, const char *what, uint64_t low, uint64_t high,
                            uint64_t *ret_number)
{
    const struct token *token = &parser->lexer.token;
    if (token->kind != TOKEN_INTEGER)
        return lexer_unexpected(&parser->lexer, what);
    if (token->integer < low)
        return parser_error(parser, token->start, "%s starts at %llu", what,
                            (unsigned long long)low);
    if (token->integer > high)
        return parser_error(parser, token->start, "%s is at most %llu", what,
                            (unsigned long long)high);
    *ret_number = token->integer;
    return lexer_next(&parser->lexer);
}

struct error *node_unary(struct parser *parser, enum wire_op op, size_t start,
                         const struct expression *operand, const struct expression **ret_node)
{
    struct expression *node = NULL;
    bool is_not = op == WIRE_OP_NOT;
    TRY(node_new(parser, is_not ? EXPRESSION_NOT : EXPRESSION_UNARY, start, &node));
    node->op = op;
    node->left = operand;
    node_inherit(node);
    if (operand->kind == EXPRESSION_CONSTANT &&
        expression_fold(op, operand->number, 0, &node->number))
        node->kind = EXPRESSION_CONSTANT;
    node->has_unit = operand->has_unit;
    *ret_node = node;
    return NULL;
}

struct error *node_binary(struct parser *parser, enum wire_op op, size_t start,
                          const struct expression *left, const struct expression *right,
                          const struct expression **ret_node)
{
    struct expression *node = NULL;
    TRY(node_new(parser, EXPRESSION_BINARY, start, &node));
    node->op = op;
    node->left = left;
    node->right = right;
    node_inherit(node);
    if (left->kind == EXPRESSION_CONSTANT && right->kind == EXPRESSION_CONSTANT) {
        if (!expression_fold(op, left->number, right->number, &node->number))
            return parser_error(parser, right->start, "division by zero");
        node->kind = EXPRESSION_CONSTANT;
        node->has_unit = left->has_unit || right->has_unit;
    }
    *ret_node = node;
    return NULL;
}
