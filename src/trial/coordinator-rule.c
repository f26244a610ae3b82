// SPDX-License-Identifier: GPL-3.0-or-later
// Parses and evaluates the coordinator's rules. They are expressions of the scenario language with
// other words, evaluated on the tree: a question comes over a socket, so that is fast enough.
#include "trial/coordinator-rule.h"

#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct coordinator_rule {
    struct scenario *scenario; // holds what the parser makes
    const char *name, *text;
    const struct expression *condition; // NULL = always
    bool turns, fired;
};

// arg(N): the node keeps N - 1.
static struct error *parse_argument(struct parser *parser, struct expression *node)
{
    uint64_t number;
    TRY(parse_open(parser, "arg"));
    TRY(parse_bounded(parser, "an argument number", 1, WIRE_ARGUMENTS, &number));
    node->number = (int64_t)number - 1;
    return parse_close(parser);
}

static struct error *parse_glob(struct parser *parser, struct expression *node)
{
    TRY(parse_open(parser, node->trigger->about.name));
    if (parser->lexer.token.kind != TOKEN_TEXT)
        return lexer_unexpected(&parser->lexer, "a pattern in quotes");
    node->glob = parser->lexer.token.glob;
    TRY(lexer_next(&parser->lexer));
    return parse_close(parser);
}

static const struct trigger_kind
    word_count = {.about = {.name = "count", .syntax = "count"}},
    word_node_count = {.about = {.name = "node_count", .syntax = "node_count"}},
    word_nodes = {.about = {.name = "nodes", .syntax = "nodes"}},
    word_occurrence = {.about = {.name = "occurrence", .syntax = "occurrence"}},
    word_turn = {.about = {.name = "turn", .syntax = "turn"}},
    word_once = {.about = {.name = "once", .syntax = "once"}},
    word_random = {.about = {.name = "random"}, .parse = trigger_parse_random, .sees_calls = true},
    word_argument = {.about = {.name = "arg"}, .parse = parse_argument},
    word_node = {.about = {.name = "node"}, .parse = parse_glob},
    word_function = {.about = {.name = "function"}, .parse = parse_glob},
    word_stack = {.about = {.name = "stack"}, .parse = parse_glob};

static const struct trigger_kind *const words[] = {
    &word_count,  &word_node_count, &word_nodes, &word_occurrence, &word_turn,  &word_once,
    &word_random, &word_argument,   &word_node,  &word_function,   &word_stack,
};
static const struct vocabulary vocabulary = {words, sizeof words / sizeof *words,
                                             "ordeal-coordinate(1)"};

// Refuses a text that stands alone, which the parser leaves to the compiler, and there is none
// here. Notes whether the rule asks for `turn`.
static struct error *check(struct coordinator_rule *rule, const struct source *source,
                           const struct expression *node)
{
    if (node == NULL)
        return NULL;
    if (node->kind == EXPRESSION_TEXT)
        return source_error(source, node->start, "a text cannot stand here");
    rule->turns |= node->trigger == &word_turn;
    TRY(check(rule, source, node->left));
    TRY(check(rule, source, node->right));
    return check(rule, source, node->last);
}

static struct error *coordinator_rule_read(struct coordinator_rule *rule,
                                           const struct source *source)
{
    struct parser parser;
    TRY(parser_start(&parser, rule->scenario, source, 0, NULL));
    parser.words = &vocabulary;
    struct word word;
    TRY(lexer_word(&parser.lexer, "", &word));
    if (word.text.size == 0)
        return source_error(source, word.start, "expected the name that stands in remote(NAME)");
    rule->name = word.text.chars;
    if (parser.lexer.token.kind == TOKEN_END)
        return NULL;
    TRY(lexer_expect(&parser.lexer, TOKEN_WHEN, "'when'"));
    TRY(parse_expression(&parser, &rule->condition));
    if (parser.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&parser.lexer, "'and', 'or' or the end of the rule");
    return check(rule, source, rule->condition);
}

static struct error *coordinator_rule_init(struct coordinator_rule *rule, const char *text)
{
    TRY(scenario_new(&rule->scenario));
    rule->text = arena_copy(&rule->scenario->arena, text, strlen(text));
    if (rule->text == NULL)
        return error_no_memory();
    struct source source = source_whole("--rule", rule->text, strlen(rule->text));
    return coordinator_rule_read(rule, &source);
}

struct error *coordinator_rule_new(const char *text, struct coordinator_rule **ret_decision)
{
    struct coordinator_rule *rule = calloc(1, sizeof *rule);
    if (rule == NULL)
        return error_no_memory();
    struct error *error = coordinator_rule_init(rule, text);
    if (error != NULL)
        coordinator_rule_free(rule);
    else
        *ret_decision = rule;
    return error;
}

void coordinator_rule_free(struct coordinator_rule *rule)
{
    if (rule == NULL)
        return;
    scenario_free(rule->scenario);
    free(rule);
}

const char *coordinator_rule_name(const struct coordinator_rule *rule)
{
    return rule->name;
}

const char *coordinator_rule_text(const struct coordinator_rule *rule)
{
    return rule->text;
}

bool coordinator_rule_uses_turn(const struct coordinator_rule *rule)
{
    return rule->turns;
}

struct asking {
    const struct coordinator_rule *rule;
    const struct coordinator_question *question;
    bool failed; // a division by zero
};

// splitmix64
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static bool is_glob_of(const struct expression *node, const char *text)
{
    return fnmatch(node->glob.size != 0 ? node->glob.chars : "", text, 0) == 0;
}

static bool on_stack(const struct coordinator_question *question, const struct expression *node)
{
    for (size_t i = 0; i < question->frame_count; i++) {
        const struct coordinator_frame *frame = &question->frames[i];
        const char *slash = strrchr(frame->module, '/');
        if (is_glob_of(node, frame->symbol) || is_glob_of(node, frame->module) ||
            (slash != NULL && is_glob_of(node, slash + 1)))
            return true;
    }
    return false;
}

static int64_t answer(struct asking *asking, const struct expression *node)
{
    const struct coordinator_question *question = asking->question;
    const struct trigger_kind *word = node->trigger;
    if (word == &word_count)
        return (int64_t)question->count;
    if (word == &word_node_count)
        return (int64_t)question->node_count;
    if (word == &word_nodes)
        return (int64_t)question->nodes;
    if (word == &word_occurrence)
        return (int64_t)question->occurrence;
    if (word == &word_turn)
        return question->turn;
    if (word == &word_once)
        return !asking->rule->fired;
    if (word == &word_random)
        return next_random(question->random) < (uint64_t)node->number || node->number == -1;
    if (word == &word_argument)
        return (int64_t)question->arguments[node->number];
    if (word == &word_node)
        return is_glob_of(node, question->node);
    if (word == &word_function)
        return is_glob_of(node, question->function);
    return on_stack(question, node);
}

static int64_t evaluate(struct asking *asking, const struct expression *node);

static bool in_range(struct asking *asking, const struct expression *node)
{
    int64_t value = evaluate(asking, node->left), first = evaluate(asking, node->right);
    if (value < first || (node->last != NULL && value > evaluate(asking, node->last)))
        return false;
    return node->step == NULL ||
           ((uint64_t)value - (uint64_t)first) % (uint64_t)node->step->number == 0;
}

static int64_t evaluate(struct asking *asking, const struct expression *node)
{
    int64_t value = 0;
    switch (node->kind) {
    case EXPRESSION_CONSTANT:
        return node->number;
    case EXPRESSION_UNARY:
    case EXPRESSION_NOT:
    case EXPRESSION_BINARY: {
        int64_t left = evaluate(asking, node->left);
        int64_t right = node->right != NULL ? evaluate(asking, node->right) : 0;
        if (!expression_fold(node->op, left, right, &value))
            asking->failed = true;
        return value;
    }
    case EXPRESSION_AND:
        return evaluate(asking, node->left) && evaluate(asking, node->right);
    case EXPRESSION_OR:
        return evaluate(asking, node->left) || evaluate(asking, node->right);
    case EXPRESSION_RANGE:
        return in_range(asking, node);
    case EXPRESSION_TRIGGER:
        return answer(asking, node);
    case EXPRESSION_TEXT:      // refused by check()
    case EXPRESSION_MATCH:     // no word here is a text
    case EXPRESSION_REFERENCE: // no names are given
        break;
    }
    return 0;
}

bool coordinator_rule_ask(struct coordinator_rule *rule,
                          const struct coordinator_question *question)
{
    struct asking asking = {.rule = rule, .question = question};
    bool yes = rule->condition == NULL || evaluate(&asking, rule->condition) != 0;
    yes = yes && !asking.failed;
    rule->fired |= yes;
    return yes;
}
