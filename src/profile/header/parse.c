// SPDX-License-Identifier: GPL-3.0-or-later
// Reads declarations from C headers without a preprocessor: words that are not known, such as the
// macros of export lists, are passed over, and both branches of conditions are read.
#include "profile/header/declarations-internal.h"

#include "base/cleanup.h"

#include <stdlib.h>

#define MOST_TOKENS 512 // of one declaration; the rest is left out

struct parser {
    struct declarations *declarations;
    struct header_reader reader;
    struct token tokens[MOST_TOKENS]; // of the declaration that is read
    size_t count, depth;              // depth: open parentheses
    struct word comment;              // in front of it
    struct word inside;               // from the first comment between its words to the last one
    bool many;                        // its braces have a minus, or more than two parts
    struct enumeration enumeration;   // what is in them
};

// The index behind the parenthesis that closes the one at an index.
static size_t behind_parentheses(const struct parser *parser, size_t index)
{
    size_t depth = 0;
    for (; index < parser->count; index++) {
        depth += token_is_sign(&parser->tokens[index], '(');
        if (token_is_sign(&parser->tokens[index], ')') && --depth == 0)
            return index + 1;
    }
    return index;
}

// Collects the type from the tokens in front of a name. `inside`: also those in parentheses, for
// which a macro stands: API(int) f(void). False if it is no type.
static bool type_of(const struct parser *parser, size_t from, size_t to, bool inside,
                    struct type *ret_type)
{
    struct type type = {0};
    for (size_t i = from; i < to;) {
        const struct token *token = &parser->tokens[i];
        bool attribute = token->word.size != 0 && keyword_of(&token->word) == KEYWORD_ATTRIBUTE;
        if (attribute || (token_is_sign(token, '(') && !inside)) {
            i = behind_parentheses(parser, i + attribute);
            continue;
        }
        if (token->word.size != 0)
            type_add_word(&type, &token->word);
        else if (token->sign == '*')
            type.pointer = true;
        else if (token->sign != '(' && token->sign != ')')
            return false;
        i++;
    }
    *ret_type = type;
    return !type.seen[KEYWORD_OTHER];
}

static struct error *add_function(struct parser *parser, const struct word *name, size_t index)
{
    struct type type;
    bool found = keyword_of(name) == NO_KEYWORD && type_of(parser, 0, index, false, &type);
    if (found && type_result(&type) == DECLARED_UNKNOWN &&
        token_is_sign(&parser->tokens[index - 1], ')'))
        found = type_of(parser, 0, index, true, &type);
    if (!found)
        return NULL;
    struct declarations *declarations = parser->declarations;
    TRY(declarations_add(declarations, &declarations->functions, name, &type));
    struct declaration *added = declarations_look_up(declarations, &declarations->functions, name);
    if (added != NULL && parser->comment.size != 0)
        added->documented |=
            (uint16_t)documented_results(parser->comment.text, parser->comment.size);
    if (added != NULL && parser->inside.size != 0)
        added->documented |= (uint16_t)documented_results(parser->inside.text, parser->inside.size);
    return NULL;
}

// Whether a name in parentheses is at an index, and parentheses follow: int (f)(void).
static bool is_shielded(const struct parser *parser, size_t index)
{
    const struct token *token = &parser->tokens[index];
    return index + 3 < parser->count && token_is_sign(token, '(') && token[1].word.size != 0 &&
           token_is_sign(token + 2, ')') && token_is_sign(token + 3, '(');
}

// Every word at the top that parentheses follow may be the function. Macros behind the declaration
// are taken for functions, too, but nobody asks for these.
static struct error *add_functions(struct parser *parser)
{
    for (size_t i = 0; i + 1 < parser->count;) {
        const struct token *token = &parser->tokens[i];
        if (i > 0 && is_shielded(parser, i))
            TRY(add_function(parser, &token[1].word, i));
        if (token_is_sign(token, '(')) {
            i = behind_parentheses(parser, i);
            continue;
        }
        if (i > 0 && token->word.size != 0 && token_is_sign(token + 1, '('))
            TRY(add_function(parser, &token->word, i));
        i++;
    }
    return NULL;
}

static struct error *keep_enumeration(struct parser *parser, struct declaration *declaration)
{
    if (parser->enumeration.count == 0 || declaration->enumeration != NULL)
        return NULL;
    struct enumeration *copy =
        arena_alloc(&parser->declarations->texts, sizeof parser->enumeration);
    if (copy == NULL)
        return error_no_memory();
    *copy = parser->enumeration;
    declaration->enumeration = copy;
    return NULL;
}

// enum TAG { … }
static struct error *add_tag(struct parser *parser)
{
    struct declarations *declarations = parser->declarations;
    const struct token *last = &parser->tokens[parser->count - 1];
    if (parser->count < 2 || last->word.size == 0 || last[-1].word.size == 0 ||
        !word_is(&last[-1].word, "enum"))
        return NULL;
    const struct type type = {.seen[KEYWORD_ENUM] = true};
    TRY(declarations_add(declarations, &declarations->tags, &last->word, &type));
    struct declaration *added =
        declarations_look_up(declarations, &declarations->tags, &last->word);
    return added != NULL ? keep_enumeration(parser, added) : NULL;
}

// typedef TYPE A, *B, (*C)(…);
static struct error *add_types(struct parser *parser, size_t from)
{
    size_t start = from;
    bool first = true;
    struct type base = {0};
    for (size_t i = from; i <= parser->count; i++) {
        if (i < parser->count && token_is_sign(&parser->tokens[i], '(')) {
            const struct type pointer = {.pointer = true};
            bool function = i + 2 < parser->count && token_is_sign(&parser->tokens[i + 1], '*') &&
                            parser->tokens[i + 2].word.size != 0;
            return function ? declarations_add(parser->declarations, &parser->declarations->types,
                                               &parser->tokens[i + 2].word, &pointer)
                            : NULL;
        }
        if (i < parser->count && !token_is_sign(&parser->tokens[i], ','))
            continue;
        struct type type = {0};
        if (i == start || parser->tokens[i - 1].word.size == 0 ||
            !type_of(parser, start, i - 1, false, &type))
            return NULL;
        if (first) {
            base = type;
            base.pointer = false;
        } else {
            bool pointer = type.pointer;
            type = base;
            type.pointer = pointer;
        }
        first = false;
        const struct word *name = &parser->tokens[i - 1].word;
        TRY(declarations_add(parser->declarations, &parser->declarations->types, name, &type));
        struct declaration *added =
            declarations_look_up(parser->declarations, &parser->declarations->types, name);
        if (added != NULL && type.seen[KEYWORD_ENUM]) {
            added->many |= parser->many;
            TRY(keep_enumeration(parser, added));
        }
        start = i + 1;
    }
    return NULL;
}

static struct error *end_declaration(struct parser *parser)
{
    struct error *error = NULL;
    size_t index = 0;
    while (index < parser->count && !(parser->tokens[index].word.size != 0 &&
                                      word_is(&parser->tokens[index].word, "typedef")))
        index++;
    error = index < parser->count ? add_types(parser, index + 1) : add_functions(parser);
    parser->count = parser->depth = 0;
    parser->many = false;
    parser->enumeration = (struct enumeration){0};
    parser->comment.size = parser->reader.comment.size = 0;
    parser->inside.size = parser->reader.comments.size = 0;
    return error;
}

// Whether a comment is about what follows: it is marked as documentation, or no blank line is
// between them.
static bool is_about(const struct word *comment, const char *next)
{
    char mark = '\0', after = '\0';
    if (comment->size > 4) {
        mark = comment->text[2];
        after = comment->text[3];
    }
    unsigned lines = 0;
    for (const char *at = comment->text + comment->size; at < next; at++)
        lines += *at == '\n';
    bool marked = mark == '*' || mark == '!' || mark == '/';
    return marked ? after != '<' : lines < 2;
}

static void add_token(struct parser *parser, const struct token *token)
{
    struct word *comment = &parser->reader.comment, *inside = &parser->reader.comments;
    if (comment->size != 0 && parser->depth == 0 && is_about(comment, parser->reader.at))
        parser->comment = *comment;
    // int f /* -1 on error */ (void)
    if (inside->size != 0 && parser->depth == 0 && parser->count != 0) {
        if (parser->inside.size == 0)
            parser->inside.text = inside->text;
        parser->inside.size = (size_t)(inside->text + inside->size - parser->inside.text);
    }
    comment->size = inside->size = 0;
    parser->depth += token_is_sign(token, '(');
    parser->depth -= token_is_sign(token, ')') && parser->depth != 0;
    if (parser->count < MOST_TOKENS)
        parser->tokens[parser->count++] = *token;
}

// What is in braces is a body of something. That of `extern "C"` is read like the rest, and that of
// a namespace, which C does not see.
static struct error *enter_braces(struct parser *parser)
{
    bool many = false;
    struct enumeration passed = {0};
    if (parser->count == 0) {
        members_read(&parser->reader, &many, &passed);
        return NULL;
    }
    const struct token *last = &parser->tokens[parser->count - 1];
    const struct token *before = parser->count > 1 ? last - 1 : last;
    if (last->word.size != 0 &&
        (word_is(&last->word, "extern") || word_is(&last->word, "namespace") ||
         (before->word.size != 0 && word_is(&before->word, "namespace")))) {
        parser->count = 0;
        return NULL;
    }
    members_read(&parser->reader, &parser->many, &parser->enumeration);
    parser->reader.comments.size = 0;
    TRY(add_tag(parser));
    for (size_t i = 0; i < parser->count; i++)
        if (parser->tokens[i].word.size != 0 && word_is(&parser->tokens[i].word, "typedef"))
            return NULL; // the name follows
    return token_is_sign(last, ')') ? end_declaration(parser) : NULL;
}

struct error *declarations_parse(struct declarations *declarations, const char *text, size_t size)
{
    _cleanup_free_ struct parser *parser = calloc(1, sizeof *parser);
    if (parser == NULL)
        return error_no_memory();
    parser->declarations = declarations;
    parser->reader = (struct header_reader){.at = text, .end = text + size, .line_start = true};
    for (;;) {
        struct token token = token_next(&parser->reader);
        if (token_is_sign(&token, '\0'))
            return NULL;
        if (token_is_sign(&token, ';'))
            TRY(end_declaration(parser));
        else if (token_is_sign(&token, '{'))
            TRY(enter_braces(parser));
        else if (token_is_sign(&token, '}'))
            parser->count = parser->depth = 0;
        else
            add_token(parser, &token);
    }
}
