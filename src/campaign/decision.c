// See decision.h. The scenario's lexer, a recursive descent of its own since the words are others,
// and evaluation on the tree: a question comes over a socket, so speed is not of concern.
#include "campaign/decision.h"

#include "base/cleanup.h"
#include "scenario/expression.h"
#include "scenario/lexer.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 64
#define NODE_LIMIT  1000

enum node_kind {
    NODE_CONSTANT,
    NODE_OPERATION, // op, left, right
    NODE_AND,
    NODE_OR,
    NODE_RANGE, // left in right..last+step
    NODE_COUNT,
    NODE_NODE_COUNT,
    NODE_NODES,
    NODE_OCCURRENCE,
    NODE_TURN,
    NODE_ONCE,
    NODE_RANDOM,   // probability
    NODE_ARGUMENT, // number, 0-based
    NODE_NODE,     // text
    NODE_FUNCTION,
    NODE_STACK,
};

struct node {
    enum node_kind kind;
    enum wire_op op;
    int64_t number;
    double probability;
    const char *text;
    const struct node *left, *right, *last, *step;
};

struct decision {
    struct arena arena;
    struct strings strings;
    const char *name, *text;
    const struct node *condition; // NULL = always
    bool turns, fired;
};

struct reader {
    struct decision *decision;
    struct lexer lexer;
    unsigned depth, nodes;
};

static const struct {
    const char *name;
    enum node_kind kind;
    enum { BARE, NUMBER, PROBABILITY, GLOB } operand;
} words[] = {
    {"count", NODE_COUNT, BARE},
    {"node_count", NODE_NODE_COUNT, BARE},
    {"nodes", NODE_NODES, BARE},
    {"occurrence", NODE_OCCURRENCE, BARE},
    {"turn", NODE_TURN, BARE},
    {"once", NODE_ONCE, BARE},
    {"random", NODE_RANDOM, PROBABILITY},
    {"arg", NODE_ARGUMENT, NUMBER},
    {"node", NODE_NODE, GLOB},
    {"function", NODE_FUNCTION, GLOB},
    {"stack", NODE_STACK, GLOB},
};

static struct error *new_node(struct reader *reader, enum node_kind kind, struct node **ret_node)
{
    if (++reader->nodes > NODE_LIMIT)
        return source_error(reader->lexer.source, reader->lexer.token.start,
                            "this condition is too long");
    struct node *node = arena_alloc(&reader->decision->arena, sizeof *node);
    if (node == NULL)
        return error_no_memory();
    node->kind = kind;
    *ret_node = node;
    return NULL;
}

static struct error *read_or(struct reader *reader, const struct node **ret_node);

static struct error *read_operand(struct reader *reader, size_t word, struct node *node)
{
    struct lexer *lexer = &reader->lexer;
    if (words[word].operand == BARE)
        return NULL;
    TRY(lexer_expect(lexer, (enum token_kind)'(', "'('"));
    const struct token token = lexer->token;
    switch (words[word].operand) {
    case NUMBER:
        if (token.kind != TOKEN_INTEGER || token.integer < 1 || token.integer > 6)
            return source_error(lexer->source, token.start, "an argument is a number from 1 to 6");
        node->number = (int64_t)token.integer - 1;
        break;
    case PROBABILITY:
        if ((token.kind != TOKEN_REAL && token.kind != TOKEN_INTEGER) || !(token.real >= 0) ||
            token.real > 1)
            return source_error(lexer->source, token.start,
                                "a probability is a number from 0 to 1");
        node->probability = token.real;
        break;
    default:
        if (token.kind != TOKEN_TEXT)
            return source_error(lexer->source, token.start, "expected a pattern in quotes");
        node->text = token.text.size != 0 ? token.text.chars : "";
        break;
    }
    TRY(lexer_next(lexer));
    return lexer_expect(lexer, (enum token_kind)')', "')'");
}

static struct error *read_word(struct reader *reader, const struct node **ret_node)
{
    struct lexer *lexer = &reader->lexer;
    size_t start = lexer->token.start, size = lexer->token.end - start;
    const char *word = lexer->source->text + start;
    struct suggestion meant = suggestion_start(word, size);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        suggestion_offer(&meant, words[i].name);
        if (strlen(words[i].name) != size || memcmp(words[i].name, word, size) != 0)
            continue;
        struct node *node = NULL;
        TRY(new_node(reader, words[i].kind, &node));
        reader->decision->turns |= words[i].kind == NODE_TURN;
        TRY(lexer_next(lexer));
        TRY(read_operand(reader, i, node));
        *ret_node = node;
        return NULL;
    }
    char storage[SUGGESTION_SIZE];
    return source_error(lexer->source, start, "unknown word '%.*s'%s", size < 60 ? (int)size : 60,
                        word, suggestion_text(&meant, storage));
}

static struct error *read_primary(struct reader *reader, const struct node **ret_node)
{
    struct lexer *lexer = &reader->lexer;
    struct node *node = NULL;
    switch ((int)lexer->token.kind) {
    case TOKEN_INTEGER:
        TRY(new_node(reader, NODE_CONSTANT, &node));
        node->number = (int64_t)lexer->token.integer;
        *ret_node = node;
        return lexer_next(lexer);
    case TOKEN_NAME:
        return read_word(reader, ret_node);
    case '(':
        TRY(lexer_next(lexer));
        TRY(read_or(reader, ret_node));
        return lexer_expect(lexer, (enum token_kind)')', "')'");
    default:
        return lexer_unexpected(lexer, "a condition");
    }
}

static struct error *make(struct reader *reader, enum node_kind kind, enum wire_op op,
                          const struct node *left, const struct node *right,
                          const struct node **ret_node)
{
    struct node *node = NULL;
    TRY(new_node(reader, kind, &node));
    node->op = op;
    node->left = left;
    node->right = right;
    *ret_node = node;
    return NULL;
}

static struct error *enter(struct reader *reader)
{
    if (++reader->depth > DEPTH_LIMIT)
        return source_error(reader->lexer.source, reader->lexer.token.start,
                            "this condition is nested too deeply");
    return NULL;
}

static struct error *read_unary(struct reader *reader, const struct node **ret_node)
{
    struct lexer *lexer = &reader->lexer;
    enum wire_op op;
    switch ((int)lexer->token.kind) {
    case '-':
        op = WIRE_OP_NEGATE;
        break;
    case '~':
        op = WIRE_OP_COMPLEMENT;
        break;
    default:
        return read_primary(reader, ret_node);
    }
    TRY(enter(reader));
    TRY(lexer_next(lexer));
    const struct node *operand;
    TRY(read_unary(reader, &operand));
    reader->depth--;
    return make(reader, NODE_OPERATION, op, operand, NULL, ret_node);
}

// Binary operators by how tightly they bind, tightest last; 0 ends a level.
static const struct {
    int token;
    enum wire_op op;
} operators[][3] = {
    {{'|', WIRE_OP_OR}},
    {{'^', WIRE_OP_XOR}},
    {{'&', WIRE_OP_AND}},
    {{TOKEN_SHIFT_LEFT, WIRE_OP_SHIFT_LEFT}, {TOKEN_SHIFT_RIGHT, WIRE_OP_SHIFT_RIGHT}},
    {{'+', WIRE_OP_ADD}, {'-', WIRE_OP_SUBTRACT}},
    {{'*', WIRE_OP_MULTIPLY}, {'/', WIRE_OP_DIVIDE}, {'%', WIRE_OP_REMAINDER}},
};
#define LEVELS (sizeof operators / sizeof *operators)

static struct error *read_level(struct reader *reader, size_t level, const struct node **ret_node)
{
    if (level == LEVELS)
        return read_unary(reader, ret_node);
    const struct node *left;
    TRY(read_level(reader, level + 1, &left));
    for (size_t i = 0; i < 3;) {
        if (operators[level][i].token == 0 ||
            (int)reader->lexer.token.kind != operators[level][i].token) {
            i++;
            continue;
        }
        const struct node *right;
        TRY(lexer_next(&reader->lexer));
        TRY(read_level(reader, level + 1, &right));
        TRY(make(reader, NODE_OPERATION, operators[level][i].op, left, right, &left));
        i = 0;
    }
    *ret_node = left;
    return NULL;
}

// A..B+STEP: the additive level would take the +, so the ends are read above it.
static struct error *read_range(struct reader *reader, const struct node *left,
                                const struct node **ret_node)
{
    struct lexer *lexer = &reader->lexer;
    struct node *range = NULL;
    TRY(new_node(reader, NODE_RANGE, &range));
    range->left = left;
    TRY(lexer_next(lexer));
    TRY(read_unary(reader, &range->right));
    TRY(lexer_expect(lexer, TOKEN_RANGE, "'..'"));
    if (lexer->token.kind == TOKEN_INTEGER || (int)lexer->token.kind == '(')
        TRY(read_unary(reader, &range->last));
    if ((int)lexer->token.kind == '+') {
        TRY(lexer_next(lexer));
        TRY(read_unary(reader, &range->step));
    }
    *ret_node = range;
    return NULL;
}

static struct error *read_comparison(struct reader *reader, const struct node **ret_node)
{
    static const struct {
        int token;
        enum wire_op op;
    } comparisons[] = {
        {TOKEN_EQUAL, WIRE_OP_EQUAL}, {TOKEN_NOT_EQUAL, WIRE_OP_NOT_EQUAL},
        {'<', WIRE_OP_LESS},          {TOKEN_LESS_EQUAL, WIRE_OP_LESS_EQUAL},
        {'>', WIRE_OP_GREATER},       {TOKEN_GREATER_EQUAL, WIRE_OP_GREATER_EQUAL},
    };
    const struct node *left;
    TRY(read_level(reader, 0, &left));
    *ret_node = left;
    if (reader->lexer.token.kind == TOKEN_IN)
        return read_range(reader, left, ret_node);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if ((int)reader->lexer.token.kind != comparisons[i].token)
            continue;
        const struct node *right;
        TRY(lexer_next(&reader->lexer));
        TRY(read_level(reader, 0, &right));
        return make(reader, NODE_OPERATION, comparisons[i].op, left, right, ret_node);
    }
    return NULL;
}

static struct error *read_not(struct reader *reader, const struct node **ret_node)
{
    if (reader->lexer.token.kind != TOKEN_NOT && (int)reader->lexer.token.kind != '!')
        return read_comparison(reader, ret_node);
    TRY(enter(reader));
    TRY(lexer_next(&reader->lexer));
    const struct node *operand;
    TRY(read_not(reader, &operand));
    reader->depth--;
    return make(reader, NODE_OPERATION, WIRE_OP_NOT, operand, NULL, ret_node);
}

static struct error *read_and(struct reader *reader, const struct node **ret_node)
{
    const struct node *left, *right;
    TRY(read_not(reader, &left));
    while (reader->lexer.token.kind == TOKEN_AND) {
        TRY(lexer_next(&reader->lexer));
        TRY(read_not(reader, &right));
        TRY(make(reader, NODE_AND, WIRE_OP_CONSTANT, left, right, &left));
    }
    *ret_node = left;
    return NULL;
}

static struct error *read_or(struct reader *reader, const struct node **ret_node)
{
    const struct node *left, *right;
    TRY(enter(reader));
    TRY(read_and(reader, &left));
    while (reader->lexer.token.kind == TOKEN_OR) {
        TRY(lexer_next(&reader->lexer));
        TRY(read_and(reader, &right));
        TRY(make(reader, NODE_OR, WIRE_OP_CONSTANT, left, right, &left));
    }
    reader->depth--;
    *ret_node = left;
    return NULL;
}

static struct error *decision_read(struct decision *decision, const struct source *source)
{
    struct reader reader = {.decision = decision};
    TRY(lexer_start(&reader.lexer, source, &decision->arena, &decision->strings, 0));
    struct word word;
    TRY(lexer_word(&reader.lexer, "", &word));
    if (word.text.size == 0)
        return source_error(source, word.start, "expected the name that stands in remote(NAME)");
    decision->name = word.text.chars;
    if (reader.lexer.token.kind == TOKEN_END)
        return NULL;
    TRY(lexer_expect(&reader.lexer, TOKEN_WHEN, "'when'"));
    TRY(read_or(&reader, &decision->condition));
    if (reader.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&reader.lexer, "the end");
    return NULL;
}

struct error *decision_new(const char *text, struct decision **ret_decision)
{
    struct decision *decision = calloc(1, sizeof *decision);
    if (decision == NULL)
        return error_no_memory();
    struct error *error = NULL;
    decision->text = arena_copy(&decision->arena, text, strlen(text));
    if (decision->text == NULL) {
        error = error_no_memory();
    } else {
        struct source source = source_whole("--rule", decision->text, strlen(decision->text));
        error = decision_read(decision, &source);
    }
    if (error != NULL)
        decision_free(decision);
    else
        *ret_decision = decision;
    return error;
}

void decision_free(struct decision *decision)
{
    if (decision == NULL)
        return;
    strings_deinit(&decision->strings);
    arena_deinit(&decision->arena);
    free(decision);
}

const char *decision_name(const struct decision *decision)
{
    return decision->name;
}

const char *decision_text(const struct decision *decision)
{
    return decision->text;
}

bool decision_takes_turns(const struct decision *decision)
{
    return decision->turns;
}

struct asking {
    const struct decision *decision;
    const struct decision_question *question;
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

static bool on_stack(const struct decision_question *question, const char *glob)
{
    for (size_t i = 0; i < question->frame_count; i++) {
        const struct decision_frame *frame = &question->frames[i];
        const char *slash = strrchr(frame->module, '/');
        if (fnmatch(glob, frame->symbol, 0) == 0 || fnmatch(glob, frame->module, 0) == 0 ||
            (slash != NULL && fnmatch(glob, slash + 1, 0) == 0))
            return true;
    }
    return false;
}

static int64_t evaluate(struct asking *asking, const struct node *node);

static bool in_range(struct asking *asking, const struct node *node)
{
    int64_t value = evaluate(asking, node->left), first = evaluate(asking, node->right);
    if (value < first || (node->last != NULL && value > evaluate(asking, node->last)))
        return false;
    if (node->step == NULL)
        return true;
    int64_t step = evaluate(asking, node->step);
    if (step <= 0) {
        asking->failed = true;
        return false;
    }
    return ((uint64_t)value - (uint64_t)first) % (uint64_t)step == 0;
}

static int64_t evaluate(struct asking *asking, const struct node *node)
{
    const struct decision_question *question = asking->question;
    int64_t value = 0;
    switch (node->kind) {
    case NODE_CONSTANT:
        return node->number;
    case NODE_OPERATION: {
        int64_t left = evaluate(asking, node->left);
        int64_t right = node->right != NULL ? evaluate(asking, node->right) : 0;
        if (!expression_fold(node->op, left, right, &value))
            asking->failed = true;
        return value;
    }
    case NODE_AND:
        return evaluate(asking, node->left) && evaluate(asking, node->right);
    case NODE_OR:
        return evaluate(asking, node->left) || evaluate(asking, node->right);
    case NODE_RANGE:
        return in_range(asking, node);
    case NODE_COUNT:
        return (int64_t)question->count;
    case NODE_NODE_COUNT:
        return (int64_t)question->node_count;
    case NODE_NODES:
        return (int64_t)question->nodes;
    case NODE_OCCURRENCE:
        return (int64_t)question->occurrence;
    case NODE_TURN:
        return question->turn;
    case NODE_ONCE:
        return !asking->decision->fired;
    case NODE_RANDOM:
        return (double)(next_random(question->random) >> 11) * 0x1p-53 < node->probability;
    case NODE_ARGUMENT:
        return (int64_t)question->arguments[node->number];
    case NODE_NODE:
        return fnmatch(node->text, question->node, 0) == 0;
    case NODE_FUNCTION:
        return fnmatch(node->text, question->function, 0) == 0;
    case NODE_STACK:
        return on_stack(question, node->text);
    }
    return 0;
}

bool decision_ask(struct decision *decision, const struct decision_question *question)
{
    struct asking asking = {.decision = decision, .question = question};
    bool yes = decision->condition == NULL || evaluate(&asking, decision->condition) != 0;
    yes = yes && !asking.failed;
    decision->fired |= yes;
    return yes;
}
