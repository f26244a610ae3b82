// SPDX-License-Identifier: GPL-3.0-or-later
// See expression.h. Recursive descent, one function per level of precedence, loosest first:
// or, and, not, comparisons and `in`, | , ^, &, shifts, + -, * / %, unary. Unlike C, the bitwise
// operators bind tighter than comparisons, so that `arg(2) & O_CREAT == O_CREAT` means what it
// says.
#include "scenario/expression.h"

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

static struct error *new_node(struct parser *parser, enum expression_kind kind, size_t start,
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

// Takes over from the children what holds for the whole.
static void inherit(struct expression *node)
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

static struct error *make_unary(struct parser *parser, enum wire_op op, size_t start,
                                const struct expression *operand,
                                const struct expression **ret_node)
{
    struct expression *node = NULL;
    bool is_not = op == WIRE_OP_NOT;
    TRY(new_node(parser, is_not ? EXPRESSION_NOT : EXPRESSION_UNARY, start, &node));
    node->op = op;
    node->left = operand;
    inherit(node);
    if (operand->kind == EXPRESSION_CONSTANT &&
        expression_fold(op, operand->number, 0, &node->number))
        node->kind = EXPRESSION_CONSTANT;
    node->has_unit = operand->has_unit;
    *ret_node = node;
    return NULL;
}

static struct error *make_binary(struct parser *parser, enum wire_op op, size_t start,
                                 const struct expression *left, const struct expression *right,
                                 const struct expression **ret_node)
{
    struct expression *node = NULL;
    TRY(new_node(parser, EXPRESSION_BINARY, start, &node));
    node->op = op;
    node->left = left;
    node->right = right;
    inherit(node);
    if (left->kind == EXPRESSION_CONSTANT && right->kind == EXPRESSION_CONSTANT) {
        if (!expression_fold(op, left->number, right->number, &node->number))
            return parser_error(parser, right->start, "division by zero");
        node->kind = EXPRESSION_CONSTANT;
        node->has_unit = left->has_unit || right->has_unit;
    }
    *ret_node = node;
    return NULL;
}

static struct error *parse_unary(struct parser *parser, const struct expression **ret_node);

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
    TRY(new_node(parser, trigger != NULL ? EXPRESSION_TRIGGER : EXPRESSION_CONSTANT, token.start,
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
    TRY(new_node(parser, EXPRESSION_REFERENCE, start, &node));
    node->left = parser->names->list.items[found].expression;
    node->source = parser->names->list.items[found].source;
    inherit(node);
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
    TRY(new_node(parser, EXPRESSION_CONSTANT, token->start, &node));
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
        TRY(new_node(parser, EXPRESSION_TEXT, token->start, &node));
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

static struct error *parse_unary(struct parser *parser, const struct expression **ret_node)
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
    return make_unary(parser, op, start, operand, ret_node);
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

static struct error *parse_arithmetic(struct parser *parser, size_t level,
                                      const struct expression **ret_node)
{
    if (level == LEVELS)
        return parse_unary(parser, ret_node);
    const struct expression *left = NULL;
    TRY(parse_arithmetic(parser, level + 1, &left));
    enum wire_op op;
    while (level_operator(level, parser->lexer.token.kind, &op)) {
        size_t start = parser->lexer.token.start;
        TRY(lexer_next(&parser->lexer));
        const struct expression *right = NULL;
        TRY(parse_arithmetic(parser, level + 1, &right));
        TRY(make_binary(parser, op, start, left, right, &left));
    }
    *ret_node = left;
    return NULL;
}

static bool is_constant(const struct expression *node)
{
    return node != NULL && node->kind == EXPRESSION_CONSTANT;
}

// time > 2 would mean two nanoseconds, which nobody wants.
static struct error *check_unit(struct parser *parser, const struct expression *value,
                                const struct expression *limit)
{
    if (value->kind != EXPRESSION_TRIGGER || !value->trigger->is_duration || !is_constant(limit) ||
        limit->has_unit || limit->number == 0)
        return NULL;
    return parser_error(parser, limit->start, "a duration needs a unit: %s > %lldms, or s, us, ns",
                        value->trigger->about.name, (long long)limit->number);
}

// `match` is asked once per call, so its range has to become a single comparison.
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
    TRY(new_node(parser, EXPRESSION_RANGE, start, &node));
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
    inherit(node);
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
    TRY(new_node(parser, EXPRESSION_MATCH, start, &node));
    node->left = left;
    bool is_glob = operator_ == '~' || operator_ == '!';
    node->text = is_glob ? right->glob : right->text;
    node->number = is_glob ? WIRE_MATCH_GLOB : WIRE_MATCH_EQUAL;
    if (operator_ == '!' || operator_ == TOKEN_NOT_EQUAL)
        return make_unary(parser, WIRE_OP_NOT, start, node, ret_node);
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

static struct error *parse_comparison(struct parser *parser, const struct expression **ret_node)
{
    const struct expression *left = NULL, *right = NULL;
    TRY(parse_arithmetic(parser, 0, &left));
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
    TRY(parse_arithmetic(parser, 0, &right));
    if (comparison_operator(parser, &next) || parser->lexer.token.kind == TOKEN_IN)
        return parser_error(parser, parser->lexer.token.start,
                            "comparisons do not chain; join them with 'and'");
    if (left->kind == EXPRESSION_TEXT || right->kind == EXPRESSION_TEXT || operator_ == '~' ||
        operator_ == '!')
        return make_match(parser, operator_, start, left, right, ret_node);
    TRY(check_unit(parser, left, right));
    TRY(check_unit(parser, right, left));
    return make_binary(parser, op, start, left, right, ret_node);
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
    return make_unary(parser, WIRE_OP_NOT, start, operand, ret_node);
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
        TRY(new_node(parser, is_or ? EXPRESSION_OR : EXPRESSION_AND, start, &node));
        node->left = left;
        node->right = right;
        inherit(node);
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
