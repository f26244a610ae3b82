// SPDX-License-Identifier: GPL-3.0-or-later
// Reads strace's spelling of an injection: FUNCTION[,FUNCTION...]:error=EIO:when=3+2 and so on.
#include "scenario/rule.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

static const char *const keys[] = {"error", "retval",  "signal",     "delay_enter", "delay_exit",
                                   "when",  "syscall", "poke_enter", "poke_exit"};
enum key {
    KEY_ERROR,
    KEY_RETVAL,
    KEY_SIGNAL,
    KEY_DELAY_ENTER,
    KEY_DELAY_EXIT,
    KEY_WHEN,
    KEY_SYSCALL,
    KEY_POKE_ENTER,
    KEY_POKE_EXIT,
    KEYS
};

static size_t find_key(const char *text, size_t size)
{
    size_t count = sizeof keys / sizeof *keys, i = 0;
    while (i < count && !(strlen(keys[i]) == size && memcmp(keys[i], text, size) == 0))
        i++;
    return i;
}

// Whether the text before the ':' is certainly no library: a list, or a well-known function.
static bool names_functions(const char *text, size_t size)
{
    char name[64];
    if (memchr(text, ',', size) != NULL)
        return true;
    if (size >= sizeof name)
        return false;
    memcpy(name, text, size);
    name[size] = '\0';
    // In "syscall:read=-1/EIO" it says what kind of function follows.
    return strcmp(name, WIRE_SYSTEM_CALLS) != 0 && prototype_find(name) != NULL;
}

bool strace_is(const struct source *source)
{
    const char *text = source->text, *end = text + source->size, *at = text;
    while (at < end && strchr(" \t\r\n\"'=:()", *at) == NULL) // also stops at a NUL
        at++;
    if (at == end || *at != ':' || at == text)
        return false;
    const char *key = at + 1, *stop = key;
    while (stop < end && ((*stop >= 'a' && *stop <= 'z') || *stop == '_'))
        stop++;
    return stop < end && *stop == '=' &&
           (find_key(key, (size_t)(stop - key)) < sizeof keys / sizeof *keys ||
            names_functions(text, (size_t)(at - text)));
}

// error= and retval= both say what is returned.
static struct error *parse_result(struct parser *parser, struct actions *actions, bool is_error)
{
    if (actions->set & WIRE_RETURN)
        return parser_error(parser, parser->lexer.token.start,
                            "a second error= or retval= for the same rule");
    if (!is_error)
        return action_parse_value(parser, actions);
    TRY(action_parse_errno(parser, actions));
    actions->set |= WIRE_RETURN;
    actions->is_failure = true;
    return scenario_text(parser->scenario, "error", strlen("error"), &actions->value_text);
}

// Microseconds unless a unit follows.
static struct error *parse_delay(struct parser *parser, struct actions *actions)
{
    struct token *token = &parser->lexer.token;
    if (token->kind == TOKEN_INTEGER) {
        if (token->integer > INT64_MAX / 1000)
            return parser_error(parser, token->start, "this duration is too long");
        token->kind = TOKEN_DURATION;
        token->integer *= 1000;
    }
    return action_parse_duration(parser, actions);
}

// FIRST[..LAST][+[STEP]] as a condition on count.
static struct error *parse_when(struct parser *parser, struct buffer *condition)
{
    struct lexer *lexer = &parser->lexer;
    uint64_t first, last = 0, step = 0;
    size_t start = lexer->token.start;
    if (condition->size != 0)
        return parser_error(parser, start, "a second when=");
    TRY(parse_bounded(parser, "a call number", 1, INT64_MAX, &first));
    if (lexer->token.kind == TOKEN_RANGE) {
        TRY(lexer_next(lexer));
        TRY(parse_bounded(parser, "a call number", 1, INT64_MAX, &last));
        if (last < first)
            return parser_error(parser, start, "this range is empty: its end is below its start");
    }
    if (lexer->token.kind == (enum token_kind)'+') {
        TRY(lexer_next(lexer));
        step = 1;
        if (lexer->token.kind == TOKEN_INTEGER)
            TRY(parse_bounded(parser, "a step", 1, INT64_MAX, &step));
    }
    if (last == 0 && step == 0)
        return buffer_printf(condition, "count == %" PRIu64, first);
    TRY(buffer_printf(condition, "count in %" PRIu64 "..", first));
    if (last != 0)
        TRY(buffer_printf(condition, "%" PRIu64, last));
    return step > 1 ? buffer_printf(condition, "+%" PRIu64, step) : NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Adds the bytes as output parameters of 8, 4, 2 and 1 bytes.
static struct error *add_poke(struct parser *parser, size_t start, uint32_t argument,
                              const char *digits, size_t bytes, struct actions *actions)
{
    for (size_t at = 0, width; at < bytes; at += width) {
        width = 8;
        while (width > bytes - at)
            width /= 2;
        if (actions->out_count == WIRE_OUT_MAX)
            return parser_error(parser, start,
                                "a rule can change at most %d times 8 bytes of memory",
                                WIRE_OUT_MAX);
        struct wire_out *out = &actions->outs[actions->out_count++];
        *out = (struct wire_out){.argument = argument, .width = (uint32_t)width, .offset = at};
        for (size_t i = width; i-- > 0;)
            out->value = out->value << 8 | (uint64_t)(hex_digit(digits[2 * (at + i)]) << 4 |
                                                      hex_digit(digits[2 * (at + i) + 1]));
    }
    actions->set |= WIRE_OUT;
    return NULL;
}

// @arg1=HEX,@arg3=HEX: bytes that what an argument points to begins with. These are no tokens of
// the language, so the text is read here.
static struct error *parse_pokes(struct parser *parser, size_t at, struct actions *actions)
{
    static const char prefix[] = "@arg";
    const struct source *source = parser->lexer.source;
    for (;;) {
        size_t start = at, digits;
        const char *text = source->text + at;
        size_t left = source->size - at;
        bool starts = left > strlen(prefix) + 2 && strncmp(text, prefix, strlen(prefix)) == 0 &&
                      text[4] >= '1' && text[4] < '1' + WIRE_ARGUMENTS && text[5] == '=';
        for (digits = 0; starts && digits < left - 6 && hex_digit(text[6 + digits]) >= 0; digits++)
            ;
        if (!starts || digits == 0 || digits % 2 != 0)
            return parser_error(parser, start,
                                "expected @arg1=BYTES, with two hexadecimal digits for each byte, "
                                "and the numbers of arguments from 1 to %d",
                                WIRE_ARGUMENTS);
        TRY(add_poke(parser, start, (uint32_t)(text[4] - '1'), text + 6, digits / 2, actions));
        at += 6 + digits;
        if (at == source->size || source->text[at] != ',')
            break;
        at++;
    }
    parser->lexer.at = at;
    return lexer_next(&parser->lexer);
}

// One rule does its work before the call or after it.
static struct error *note_moment(struct parser *parser, size_t start, enum key key,
                                 struct actions *actions)
{
    bool after = key == KEY_DELAY_EXIT || key == KEY_POKE_EXIT,
         moved = key == KEY_DELAY_ENTER || key == KEY_POKE_ENTER || after,
         other = (actions->set & (WIRE_DELAY | WIRE_OUT)) != 0 &&
                 ((actions->set & WIRE_AFTER) != 0) != after;
    if (moved && other)
        return parser_error(parser, start,
                            "one rule cannot act before the call and after it; write two rules");
    if (after)
        actions->set |= WIRE_AFTER;
    return NULL;
}

static struct error *parse_item(struct parser *parser, struct actions *actions,
                                struct buffer *condition)
{
    struct lexer *lexer = &parser->lexer;
    size_t start = lexer->token.start, size = lexer->token.end - start;
    size_t key = find_key(lexer->source->text + start, size);
    if (lexer->token.kind != TOKEN_NAME && lexer->token.kind != TOKEN_WHEN)
        return lexer_unexpected(lexer,
                                "error=, retval=, signal=, delay_enter=, poke_exit= or when=");
    if (key == sizeof keys / sizeof *keys) {
        struct suggestion suggestion = suggestion_start(lexer->source->text + start, size);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            suggestion_offer(&suggestion, keys[i]);
        char storage[SUGGESTION_SIZE];
        return parser_error(parser, start, "unknown option '%.*s='%s", size < 60 ? (int)size : 60,
                            lexer->source->text + start, suggestion_text(&suggestion, storage));
    }
    if (key == KEY_SYSCALL)
        return parser_error(parser, start, "%s= is not supported", keys[key]);
    TRY(note_moment(parser, start, (enum key)key, actions));
    if (key == KEY_POKE_ENTER || key == KEY_POKE_EXIT) {
        size_t equals = start + size;
        if (equals == lexer->source->size || lexer->source->text[equals] != '=')
            return parser_error(parser, start, "expected '=' after %s", keys[key]);
        return parse_pokes(parser, equals + 1, actions);
    }
    TRY(lexer_next(lexer));
    TRY(lexer_expect(lexer, (enum token_kind)'=', "'='"));
    switch ((enum key)key) {
    case KEY_ERROR:
        return parse_result(parser, actions, true);
    case KEY_RETVAL:
        return parse_result(parser, actions, false);
    case KEY_SIGNAL:
        return action_parse_signal(parser, actions);
    case KEY_DELAY_ENTER:
    case KEY_DELAY_EXIT:
        return parse_delay(parser, actions);
    default:
        return parse_when(parser, condition);
    }
}

static struct error *add_functions(struct scenario *scenario, const struct source *source,
                                   size_t end, const struct draft *common)
{
    for (size_t start = 0; start <= end;) {
        size_t stop = start;
        while (stop < end && source->text[stop] != ',')
            stop++;
        struct draft draft = *common;
        draft.library.chars = "";
        if (stop == start)
            return source_error(source, start, "expected a function's name");
        struct text word;
        TRY(scenario_text(scenario, source->text + start, stop - start, &word));
        TRY(scenario_split_pattern(scenario, source, start, word, false, &draft.library,
                                   &draft.function));
        draft.function_start = start;
        TRY(rule_add(scenario, &draft));
        start = stop + 1;
    }
    return NULL;
}

struct error *strace_add(struct scenario *scenario, const struct source *source)
{
    size_t colon = (size_t)((const char *)memchr(source->text, ':', source->size) - source->text);
    _cleanup_(buffer_deinit) struct buffer condition = {0};
    struct draft draft = {.action_source = source};
    struct parser parser;
    TRY(parser_start(&parser, scenario, source, colon + 1, NULL));
    for (;;) {
        TRY(parse_item(&parser, &draft.actions, &condition));
        if (parser.lexer.token.kind == TOKEN_END)
            break;
        TRY(lexer_expect(&parser.lexer, (enum token_kind)':', "':' or the end of the rule"));
    }
    struct source derived = {.mapping = SOURCE_FIXED};
    draft.condition_text.chars = "";
    if (condition.size != 0) {
        TRY(scenario_text_of(scenario, &condition, &draft.condition_text));
        derived = (struct source){
            source->name,   source->file, source->file_size, draft.condition_text.chars,
            condition.size, source->base, SOURCE_FIXED};
        TRY(expression_parse(scenario, &derived, NULL, &draft.condition));
        draft.condition_source = &derived;
    }
    return add_functions(scenario, source, colon, &draft);
}
