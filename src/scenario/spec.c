// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the native spelling of a rule: FUNCTION=ACTION, ACTION... when CONDITION.
#include "scenario/rule.h"

#include "base/cleanup.h"

#include <string.h>

struct error *spec_trimmed(struct scenario *scenario, const struct source *source, size_t start,
                           size_t end, struct text *ret_text)
{
    static const char blanks[] = " \t\r\n";
    while (start < end && memchr(blanks, source->text[start], 4) != NULL)
        start++;
    while (end > start && memchr(blanks, source->text[end - 1], 4) != NULL)
        end--;
    if (memchr(source->text + start, '\n', end - start) == NULL)
        return scenario_text(scenario, source->text + start, end - start, ret_text);
    _cleanup_free_ char *copy = strndup(source->text + start, end - start);
    if (copy == NULL)
        return error_no_memory();
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    return scenario_text(scenario, copy, strlen(copy), ret_text);
}

static struct error *parse_actions(struct parser *parser, struct draft *draft)
{
    struct lexer *lexer = &parser->lexer;
    draft->action_source = lexer->source;
    draft->action_start = lexer->token.start;
    if (lexer->token.kind == TOKEN_WHEN || lexer->token.kind == TOKEN_END)
        return parser_error(parser, lexer->token.start,
                            "say what to inject: %s=-1/EIO, %s delay 50ms, ...",
                            draft->function.chars, draft->function.chars);
    for (;;) {
        TRY(action_parse(parser, &draft->actions));
        if (lexer->token.kind != (enum token_kind)',')
            break;
        TRY(lexer_next(lexer));
        if (lexer->token.kind == TOKEN_WHEN || lexer->token.kind == TOKEN_END)
            return lexer_unexpected(lexer, "another action after ','");
    }
    if (lexer->token.kind != TOKEN_WHEN && lexer->token.kind != TOKEN_END)
        return lexer_unexpected(lexer, "',', 'when' or the end of the rule");
    return spec_trimmed(parser->scenario, lexer->source, draft->action_start, lexer->token.start,
                        &draft->action_text);
}

static struct error *parse_condition(struct parser *parser, struct draft *draft)
{
    struct lexer *lexer = &parser->lexer;
    draft->condition_source = lexer->source;
    draft->condition_text.chars = "";
    if (lexer->token.kind == TOKEN_END)
        return NULL;
    TRY(spec_trimmed(parser->scenario, lexer->source, lexer->token.end, lexer->source->size,
                     &draft->condition_text));
    TRY(lexer_next(lexer));
    TRY(parse_expression(parser, &draft->condition));
    if (lexer->token.kind != TOKEN_END)
        return lexer_unexpected(lexer, "'and', 'or' or the end of the rule");
    return NULL;
}

// Blanks may stand between the library and the function: "syscall: read".
static struct error *join_name(struct parser *parser, struct word *word)
{
    struct word name;
    _cleanup_(buffer_deinit) struct buffer joined = {0};
    TRY(lexer_word(&parser->lexer, "=,()", &name));
    TRY(buffer_append(&joined, word->text.chars, word->text.size));
    TRY(buffer_append(&joined, name.text.chars, name.text.size));
    return scenario_text_of(parser->scenario, &joined, &word->text);
}

struct error *spec_add(struct scenario *scenario, const struct source *source,
                       const struct named_triggers *names)
{
    if (strace_is(source))
        return strace_add(scenario, source);
    struct parser parser;
    struct draft draft = {0};
    TRY(parser_start(&parser, scenario, source, 0, names));
    struct word word;
    TRY(lexer_word(&parser.lexer, "=,()", &word));
    if (word.text.size != 0 && word.text.chars[word.text.size - 1] == ':')
        TRY(join_name(&parser, &word));
    TRY(scenario_split_pattern(scenario, source, word.start, word.text, word.quoted, &draft.library,
                               &draft.function));
    if (parser.lexer.token.kind == (enum token_kind)'=')
        TRY(lexer_next(&parser.lexer));
    TRY(parse_actions(&parser, &draft));
    TRY(parse_condition(&parser, &draft));
    TRY(spec_trimmed(scenario, source, 0, source->size, &draft.text));
    return rule_add(scenario, &draft);
}

struct error *scenario_add_spec(struct scenario *scenario, const char *spec)
{
    struct source source = source_whole("--inject", spec, strlen(spec));
    if (source.size > SCENARIO_FILE_LIMIT)
        return error_new("--inject: a rule is at most %u bytes long", SCENARIO_FILE_LIMIT);
    return spec_add(scenario, &source, NULL);
}
