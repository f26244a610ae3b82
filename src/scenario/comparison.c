// SPDX-License-Identifier: GPL-3.0-or-later
// Parses comparisons of the expression language: of numbers, with texts, and with ranges.
#include "base/cleanup.h"
#include "scenario/parser.h"
#include "scenario/trigger-kind.h"

static bool is_constant(const struct expression *node)
{
    return node != NULL && node->kind == EXPRESSION_CONSTANT;
}

// Refuses durations without a unit: time > 2 would mean two nanoseconds, which nobody wants.
static struct error *check_unit(struct parser *parser, const struct expression *value,
                                const struct expression *limit)
{
    if (value->kind != EXPRESSION_TRIGGER || !value->trigger->is_duration || !is_constant(limit) ||
        limit->has_unit || limit->number == 0)
        return NULL;
    return parser_error(parser, limit->start, "a duration needs a unit: %s > %lldms, or s, us, ns",
                        value->trigger->about.name, (long long)limit->number);
}

// A range of `match` must become a single comparison, since `match` may be asked once per call
// only.
static struct error *check_match_range(struct parser *parser, const struct expression *range)
{
    if (!is_constant(range->right) || (range->last != NULL && !is_constant(range->last)))
        return parser_error(parser, range->right->start, "a range of 'match' is of plain numbers");
    if (range->step != NULL)
        return parser_error(parser, range->step->start,
                            "a range of 'match' has no step; every tenth is match %% 10 == 0");
    return NULL;
}

// After `in`: A..B, A..B+STEP, A.., A..+STEP.
static struct error *parse_range(struct parser *parser, size_t start,
                                 const struct expression *value, const struct expression **ret_node)
{
    bool is_match = value->kind == EXPRESSION_TRIGGER && value->trigger->is_match;
    if (value->sees_calls && !is_match)
        return parser_error(parser, value->start,
                            "the left side of 'in' is evaluated more than once; random, remote, "
                            "plugin and arithmetic on match cannot stand there");
    struct expression *node = NULL;
    TRY(node_new(parser, EXPRESSION_RANGE, start, &node));
    node->left = value;
    TRY(parse_unary(parser, &node->right));
    TRY(lexer_expect(&parser->lexer, TOKEN_RANGE, "'..' between the ends of a range"));
    switch ((int)parser->lexer.token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_DURATION:
    case TOKEN_NAME:
    case TOKEN_BAD:
    case '-':
    case '(':
        TRY(parse_unary(parser, &node->last));
        break;
    default:
        break;
    }
    if (parser->lexer.token.kind == (enum token_kind)'+') {
        TRY(lexer_next(&parser->lexer));
        TRY(parse_unary(parser, &node->step));
        if (node->step->kind != EXPRESSION_CONSTANT || node->step->number < 1)
            return parser_error(parser, node->step->start,
                                "the step of a range is a number from 1 on");
    }
    TRY(check_unit(parser, value, node->right));
    TRY(check_unit(parser, value, node->last));
    if (node->last != NULL && node->last->kind == EXPRESSION_CONSTANT &&
        node->right->kind == EXPRESSION_CONSTANT && node->last->number < node->right->number)
        return parser_error(parser, node->last->start,
                            "this range is empty: its end is below its "
                            "start");
    if (is_match)
        TRY(check_match_range(parser, node));
    node_inherit(node);
    *ret_node = node;
    return NULL;
}

static struct error *make_match(struct parser *parser, int operator_, size_t start,
                                const struct expression *left, const struct expression *right,
                                const struct expression **ret_node)
{
    if (operator_ != TOKEN_EQUAL && operator_ != TOKEN_NOT_EQUAL && operator_ != '~' &&
        operator_ != '!')
        return parser_error(parser, start, "a text can only be compared with ==, !=, ~ or !~");
    if (left->kind == EXPRESSION_TEXT && operator_ != '~' && operator_ != '!') {
        const struct expression *swap = left;
        left = right;
        right = swap;
    }
    if (right->kind != EXPRESSION_TEXT)
        return parser_error(parser, right->start,
                            "'~' needs a text in quotes on its right: path(1) ~ \"/etc/*\"");
    if (left->kind != EXPRESSION_TRIGGER || left->trigger->match == NULL)
        return parser_error(parser, left->start,
                            "only arg(n), path(n), thread and process can be compared with a text");
    struct expression *node = NULL;
    TRY(node_new(parser, EXPRESSION_MATCH, start, &node));
    node->left = left;
    bool is_glob = operator_ == '~' || operator_ == '!';
    node->text = is_glob ? right->glob : right->text;
    node->number = is_glob ? WIRE_MATCH_GLOB : WIRE_MATCH_EQUAL;
    if (operator_ == '!' || operator_ == TOKEN_NOT_EQUAL)
        return node_unary(parser, WIRE_OP_NOT, start, node, ret_node);
    *ret_node = node;
    return NULL;
}

static bool comparison_operator(const struct parser *parser, enum wire_op *ret_op)
{
    switch ((int)parser->lexer.token.kind) {
    case TOKEN_EQUAL:
        *ret_op = WIRE_OP_EQUAL;
        return true;
    case TOKEN_NOT_EQUAL:
        *ret_op = WIRE_OP_NOT_EQUAL;
        return true;
    case '<':
        *ret_op = WIRE_OP_LESS;
        return true;
    case TOKEN_LESS_EQUAL:
        *ret_op = WIRE_OP_LESS_EQUAL;
        return true;
    case '>':
        *ret_op = WIRE_OP_GREATER;
        return true;
    case TOKEN_GREATER_EQUAL:
        *ret_op = WIRE_OP_GREATER_EQUAL;
        return true;
    case '~':
        *ret_op = WIRE_OP_EQUAL;
        return true;
    case '!': // !~
        *ret_op = WIRE_OP_NOT_EQUAL;
        return parser->lexer.at < parser->lexer.source->size &&
               parser->lexer.source->text[parser->lexer.at] == '~';
    default:
        return false;
    }
}

struct error *parse_comparison(struct parser *parser, const struct expression **ret_node)
{
    const struct expression *left = NULL, *right = NULL;
    TRY(parse_arithmetic(parser, &left));
    enum wire_op op, next;
    int operator_ = (int)parser->lexer.token.kind;
    size_t start = parser->lexer.token.start;
    if (operator_ == TOKEN_IN) {
        TRY(lexer_next(&parser->lexer));
        return parse_range(parser, start, left, ret_node);
    }
    if (operator_ == '=')
        return parser_error(parser, start, "write '==' to compare");
    if (!comparison_operator(parser, &op)) {
        *ret_node = left;
        return NULL;
    }
    TRY(lexer_next(&parser->lexer));
    if (operator_ == '!')
        TRY(lexer_next(&parser->lexer));
    TRY(parse_arithmetic(parser, &right));
    if (comparison_operator(parser, &next) || parser->lexer.token.kind == TOKEN_IN)
        return parser_error(parser, parser->lexer.token.start,
                            "comparisons do not chain; join them with 'and'");
    if (left->kind == EXPRESSION_TEXT || right->kind == EXPRESSION_TEXT || operator_ == '~' ||
        operator_ == '!')
        return make_match(parser, operator_, start, left, right, ret_node);
    TRY(check_unit(parser, left, right));
    TRY(check_unit(parser, right, left));
    return node_binary(parser, op, start, left, right, ret_node);
}
