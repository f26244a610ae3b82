// SPDX-License-Identifier: GPL-3.0-or-later
// Parses and prints the actions of a rule: return values, errno, delays, signals, short
// transfers, output parameters.
#include "scenario/action.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/traits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAST_ERRNO 4095

static const char *token_text(const struct parser *parser, size_t *ret_size)
{
    const struct token *token = &parser->lexer.token;
    *ret_size = token->end - token->start;
    return parser->lexer.source->text + token->start;
}

static struct error *twice(struct parser *parser, uint32_t action, struct actions *actions,
                           const char *what)
{
    if (actions->set & action)
        return parser_error(parser, parser->lexer.token.start, "a second %s for the same rule",
                            what);
    actions->set |= action;
    return NULL;
}

static struct error *unknown_constant(struct parser *parser, const char *what, int kind)
{
    size_t size;
    const char *word = token_text(parser, &size);
    struct suggestion suggestion = suggestion_start(word, size);
    for (size_t i = 0; i < constant_count(); i++)
        if (kind < 0 || (int)constant_at(i)->kind == kind)
            suggestion_offer(&suggestion, constant_at(i)->name);
    char storage[SUGGESTION_SIZE];
    return parser_error(parser, parser->lexer.token.start, "'%.*s' is not %s%s",
                        size < 60 ? (int)size : 60, word, what,
                        suggestion_text(&suggestion, storage));
}

static void store_real(struct actions *actions, long double value, char suffix)
{
    if (suffix == 'f') {
        float narrow = (float)value;
        actions->value_kind = WIRE_VALUE_FLOAT;
        memcpy(actions->value, &narrow, sizeof narrow);
    } else if (suffix == 'L') {
        actions->value_kind = WIRE_VALUE_LONG_DOUBLE;
        memcpy(actions->value, &value, 10); // the rest of its 16 bytes is padding
    } else {
        double plain = (double)value;
        actions->value_kind = WIRE_VALUE_DOUBLE;
        memcpy(actions->value, &plain, sizeof plain);
    }
}

// nan, inf, infinity with the suffixes of numbers; true if the name is one of them.
static bool real_name(const char *word, size_t size, long double *ret_value, char *ret_suffix)
{
    static const struct {
        const char *name;
        bool is_nan;
    } names[] = {{"nan", true}, {"inf", false}, {"infinity", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (size < length || size > length + 1 || memcmp(word, names[i].name, length) != 0)
            continue;
        char suffix = size > length ? word[length] : 0;
        if (suffix != 0 && suffix != 'f' && suffix != 'L')
            continue;
        *ret_value = names[i].is_nan ? __builtin_nanl("") : __builtin_infl();
        *ret_suffix = suffix;
        return true;
    }
    return false;
}

static struct error *real_number(struct parser *parser, bool negative, struct actions *actions)
{
    size_t size;
    const char *word = token_text(parser, &size);
    char digits[80];
    if (size >= sizeof digits)
        return parser_error(parser, parser->lexer.token.start, "this number has too many digits");
    memcpy(digits, word, size);
    digits[size] = '\0';
    long double value = strtold(digits, NULL);
    store_real(actions, negative ? -value : value, parser->lexer.token.suffix);
    return NULL;
}

static struct error *named_value(struct parser *parser, bool negative, struct actions *actions)
{
    size_t size;
    const char *word = token_text(parser, &size);
    long double real;
    char suffix;
    const struct constant *constant = constant_find(word, size);
    if (constant != NULL) {
        actions->value[0] = (uint64_t)constant->value;
        actions->is_errno = constant->kind == CONSTANT_ERRNO && !negative;
        if (negative)
            actions->value[0] = 0 - actions->value[0];
    } else if (size == 5 && memcmp(word, "error", 5) == 0 && !negative) {
        actions->is_failure = true;
    } else if (real_name(word, size, &real, &suffix)) {
        store_real(actions, negative ? -real : real, suffix);
    } else if (size == 4 && memcmp(word, "void", 4) == 0 && !negative) {
        actions->value[0] = 0;
    } else {
        return unknown_constant(parser, "a value: a number or a known constant", -1);
    }
    return NULL;
}

static struct error *integer_value(struct parser *parser, bool negative, struct actions *actions)
{
    const struct token *token = &parser->lexer.token;
    if (negative && token->integer > (uint64_t)INT64_MAX + 1)
        return parser_error(parser, token->start, "this number does not fit into 64 bits");
    actions->value[0] = negative ? 0 - token->integer : token->integer;
    return NULL;
}

struct error *action_parse_value(struct parser *parser, struct actions *actions)
{
    struct lexer *lexer = &parser->lexer;
    size_t start = lexer->token.start;
    TRY(twice(parser, WIRE_RETURN, actions, "return value"));
    actions->value_start = start;
    actions->value_kind = WIRE_VALUE_INTEGER;
    bool negative = lexer->token.kind == (enum token_kind)'-';
    if (negative || lexer->token.kind == (enum token_kind)'+')
        TRY(lexer_next(lexer));
    size_t end = lexer->token.end;
    if (lexer->token.kind == TOKEN_INTEGER)
        TRY(integer_value(parser, negative, actions));
    else if (lexer->token.kind == TOKEN_REAL)
        TRY(real_number(parser, negative, actions));
    else if (lexer->token.kind == TOKEN_NAME)
        TRY(named_value(parser, negative, actions));
    else
        return lexer_unexpected(lexer, "a return value");
    TRY(scenario_text(parser->scenario, lexer->source->text + start, end - start,
                      &actions->value_text));
    TRY(lexer_next(lexer));
    if (lexer->token.kind != (enum token_kind)'/')
        return NULL;
    TRY(lexer_next(lexer));
    return action_parse_errno(parser, actions);
}

struct error *action_parse_errno(struct parser *parser, struct actions *actions)
{
    const struct token *token = &parser->lexer.token;
    TRY(twice(parser, WIRE_ERRNO, actions, "errno"));
    size_t size;
    const char *word = token_text(parser, &size);
    if (token->kind == TOKEN_INTEGER) {
        if (token->integer > LAST_ERRNO)
            return parser_error(parser, token->start, "an errno is at most %d", LAST_ERRNO);
        actions->error = (int32_t)token->integer;
    } else if (token->kind == TOKEN_NAME) {
        const struct constant *constant = constant_find(word, size);
        if (constant == NULL || constant->kind != CONSTANT_ERRNO)
            return unknown_constant(parser, "an errno", CONSTANT_ERRNO);
        actions->error = (int32_t)constant->value;
    } else {
        return lexer_unexpected(&parser->lexer, "an errno");
    }
    return lexer_next(&parser->lexer);
}

struct error *action_parse_duration(struct parser *parser, struct actions *actions)
{
    const struct token *token = &parser->lexer.token;
    TRY(twice(parser, WIRE_DELAY, actions, "delay"));
    if (token->kind == TOKEN_INTEGER && token->integer != 0)
        return parser_error(parser, token->start, "a duration needs a unit: %" PRIu64 "ms",
                            token->integer);
    if (token->kind != TOKEN_DURATION && token->kind != TOKEN_INTEGER)
        return lexer_unexpected(&parser->lexer, "a duration such as 50ms");
    actions->delay_ns = token->integer;
    return lexer_next(&parser->lexer);
}

static const struct constant *signal_constant(const char *word, size_t size)
{
    char full[32];
    const struct constant *constant = constant_find(word, size);
    if (constant == NULL && size < sizeof full - 4) {
        memcpy(full, "SIG", 3);
        memcpy(full + 3, word, size);
        constant = constant_find(full, size + 3);
    }
    return constant != NULL && constant->kind == CONSTANT_SIGNAL ? constant : NULL;
}

struct error *action_parse_signal(struct parser *parser, struct actions *actions)
{
    struct lexer *lexer = &parser->lexer;
    const struct token token = lexer->token;
    TRY(twice(parser, WIRE_SIGNAL, actions, "signal"));
    uint64_t number = token.integer;
    if (token.kind == TOKEN_NAME) {
        size_t size;
        const char *word = token_text(parser, &size);
        const struct constant *constant = signal_constant(word, size);
        if (constant == NULL)
            return unknown_constant(parser, "a signal", CONSTANT_SIGNAL);
        number = (uint64_t)constant->value;
    } else if (token.kind != TOKEN_INTEGER) {
        return lexer_unexpected(lexer, "a signal such as SIGTERM");
    }
    TRY(lexer_next(lexer));
    // SIGRTMIN+3, SIGRTMAX-1
    bool adds = lexer->token.kind == (enum token_kind)'+';
    if (token.kind == TOKEN_NAME && number >= 34 &&
        (adds || lexer->token.kind == (enum token_kind)'-')) {
        TRY(lexer_next(lexer));
        uint64_t distance;
        TRY(parse_bounded(parser, "the distance of a real-time signal", 0, 30, &distance));
        number = adds ? number + distance : number - distance;
    }
    if (number < 1 || number > 64)
        return parser_error(parser, token.start, "signals are numbered from 1 to 64");
    actions->signal = (int32_t)number;
    return NULL;
}

// short, short 10, short(argument: 2), short(argument: 2) 10
static struct error *parse_short(struct parser *parser, struct actions *actions)
{
    struct lexer *lexer = &parser->lexer;
    uint64_t number;
    TRY(twice(parser, WIRE_SHORT, actions, "'short'"));
    actions->short_start = lexer->token.start;
    TRY(lexer_next(lexer));
    if (lexer->token.kind == (enum token_kind)'(') {
        TRY(lexer_next(lexer));
        if (!lexer_is_name(lexer, "argument"))
            return lexer_unexpected(lexer, "'argument: N'");
        TRY(lexer_next(lexer));
        TRY(lexer_expect(lexer, (enum token_kind)':', "':' after 'argument'"));
        TRY(parse_bounded(parser, "an argument number", 1, WIRE_ARGUMENTS, &number));
        actions->short_argument = (unsigned)number;
        TRY(parse_close(parser));
    }
    if (lexer->token.kind == TOKEN_INTEGER)
        return parse_bounded(parser, "the length of a short call", 1, INT64_MAX,
                             &actions->short_limit);
    return NULL;
}

static struct error *parse_out_offset(struct parser *parser, uint64_t *ret_offset)
{
    struct lexer *lexer = &parser->lexer;
    bool minus = lexer->token.kind == (enum token_kind)'-';
    *ret_offset = 0;
    if (!minus && lexer->token.kind != (enum token_kind)'+')
        return NULL;
    TRY(lexer_next(lexer));
    TRY(parse_bounded(parser, "the offset of an output parameter", 0, INT32_MAX, ret_offset));
    *ret_offset = minus ? -*ret_offset : *ret_offset;
    return NULL;
}

static struct error *parse_out_root(struct parser *parser, uint32_t *ret_argument)
{
    uint64_t number;
    if (lexer_is_name(&parser->lexer, "result")) {
        *ret_argument = WIRE_OUT_RESULT;
        return lexer_next(&parser->lexer);
    }
    TRY(parse_bounded(parser, "an argument number", 1, WIRE_ARGUMENTS, &number));
    *ret_argument = (uint32_t)number - 1;
    return NULL;
}

// N[:WIDTH][+OFFSET][>[+OFFSET]]...
struct error *action_parse_out_place(struct parser *parser, struct wire_out *ret_out)
{
    struct lexer *lexer = &parser->lexer;
    struct wire_out out = {.width = 4};
    uint64_t number;
    TRY(parse_out_root(parser, &out.argument));
    if (lexer->token.kind == (enum token_kind)':') {
        TRY(lexer_next(lexer));
        size_t start = lexer->token.start;
        TRY(parse_bounded(parser, "the width of an output parameter", 1, 8, &number));
        if (number != 1 && number != 2 && number != 4 && number != 8)
            return parser_error(parser, start, "an output parameter is 1, 2, 4 or 8 bytes wide");
        out.width = (uint32_t)number;
    }
    TRY(parse_out_offset(parser, &out.offset));
    while (lexer->token.kind == (enum token_kind)'>') {
        if (out.steps == WIRE_OUT_STEPS)
            return parser_error(parser, lexer->token.start,
                                "at most %d pointers lead to an output parameter",
                                WIRE_OUT_STEPS + 1);
        out.before[out.steps++] = out.offset;
        TRY(lexer_next(lexer));
        TRY(parse_out_offset(parser, &out.offset));
    }
    *ret_out = out;
    return NULL;
}

struct error *action_parse_out_value(struct parser *parser, struct wire_out *out)
{
    struct lexer *lexer = &parser->lexer;
    size_t start = lexer->token.start;
    struct actions scratch = {0};
    if (lexer_is_name(lexer, "kept")) {
        out->kind = WIRE_OUT_KEPT;
        return lexer_next(lexer);
    }
    if (lexer_is_name(lexer, "xor")) {
        out->kind = WIRE_OUT_XOR;
        TRY(lexer_next(lexer));
    }
    TRY(action_parse_value(parser, &scratch));
    if (scratch.value_kind != WIRE_VALUE_INTEGER || scratch.set != WIRE_RETURN)
        return parser_error(parser, start, "an output parameter takes a whole number");
    int64_t value = (int64_t)scratch.value[0];
    if (out->width < 8 &&
        (value >= (int64_t)1 << 8 * out->width || value < -((int64_t)1 << (8 * out->width - 1))))
        return parser_error(parser, start, "%" PRId64 " does not fit into %u byte%s", value,
                            out->width, out->width == 1 ? "" : "s");
    out->value = scratch.value[0];
    return NULL;
}

static struct error *parse_out(struct parser *parser, struct actions *actions)
{
    struct lexer *lexer = &parser->lexer;
    if (actions->out_count == WIRE_OUT_MAX)
        return parser_error(parser, lexer->token.start,
                            "a rule can set at most %d output parameters", WIRE_OUT_MAX);
    struct wire_out *out = &actions->outs[actions->out_count];
    TRY(lexer_next(lexer));
    TRY(parse_open(parser, "out"));
    TRY(action_parse_out_place(parser, out));
    TRY(parse_close(parser));
    TRY(lexer_expect(lexer, (enum token_kind)'=', "'=' after 'out(...)'"));
    TRY(action_parse_out_value(parser, out));
    actions->out_count++;
    actions->set |= WIRE_OUT;
    return NULL;
}

static struct error *parse_errno_action(struct parser *parser, struct actions *actions)
{
    TRY(lexer_next(&parser->lexer));
    if (lexer_is_name(&parser->lexer, "only")) {
        actions->errno_only = true;
        TRY(lexer_next(&parser->lexer));
    }
    return action_parse_errno(parser, actions);
}

// after: the delay and the output parameters come when the function has returned
static struct error *parse_after(struct parser *parser, struct actions *actions)
{
    TRY(twice(parser, WIRE_AFTER, actions, "'after'"));
    actions->after_start = parser->lexer.token.start;
    return lexer_next(&parser->lexer);
}

// performed, skipped: whether the function is called although the rule fires
static struct error *parse_performed(struct parser *parser, struct actions *actions)
{
    bool performed = lexer_is_name(&parser->lexer, "performed");
    if (actions->set & (WIRE_PERFORMED | WIRE_SKIPPED))
        return parser_error(parser, parser->lexer.token.start,
                            "'performed' or 'skipped' can be said once");
    actions->performed_start = parser->lexer.token.start;
    actions->set |= performed ? WIRE_PERFORMED : WIRE_SKIPPED;
    return lexer_next(&parser->lexer);
}

struct error *action_parse(struct parser *parser, struct actions *actions)
{
    struct lexer *lexer = &parser->lexer;
    if (lexer_is_name(lexer, "delay")) {
        TRY(lexer_next(lexer));
        return action_parse_duration(parser, actions);
    }
    if (lexer_is_name(lexer, "signal")) {
        TRY(lexer_next(lexer));
        return action_parse_signal(parser, actions);
    }
    if (lexer_is_name(lexer, "short"))
        return parse_short(parser, actions);
    if (lexer_is_name(lexer, "errno"))
        return parse_errno_action(parser, actions);
    if (lexer_is_name(lexer, "out"))
        return parse_out(parser, actions);
    if (lexer_is_name(lexer, "performed") || lexer_is_name(lexer, "skipped"))
        return parse_performed(parser, actions);
    if (lexer_is_name(lexer, "after"))
        return parse_after(parser, actions);
    if (lexer_is_name(lexer, "watch")) {
        actions->watch = true;
        return lexer_next(lexer);
    }
    if (lexer_is_name(lexer, "observe")) {
        actions->set |= WIRE_OBSERVE;
        return lexer_next(lexer);
    }
    if (lexer_is_name(lexer, "return"))
        TRY(lexer_next(lexer));
    return action_parse_value(parser, actions);
}

static struct error *print_named(struct buffer *buffer, const char *before, enum constant_kind kind,
                                 int number)
{
    const char *name = constant_name(kind, number);
    return name != NULL ? buffer_printf(buffer, "%s%s", before, name)
                        : buffer_printf(buffer, "%s%d", before, number);
}

static struct error *print_duration(struct buffer *buffer, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}, {1, "ns"}};
    size_t unit = 0;
    while (ns % units[unit].ns != 0)
        unit++;
    return buffer_printf(buffer, "delay %" PRIu64 "%s", ns / units[unit].ns, units[unit].name);
}

static struct error *print_short(const struct actions *actions, struct buffer *buffer)
{
    TRY(buffer_printf(buffer, "short"));
    if (actions->short_argument != 0)
        TRY(buffer_printf(buffer, "(argument: %u)", actions->short_argument));
    return actions->short_limit != 0 ? buffer_printf(buffer, " %" PRIu64, actions->short_limit)
                                     : NULL;
}

static struct error *print_out(const struct wire_out *out, struct buffer *buffer)
{
    if (out->argument == WIRE_OUT_RESULT)
        TRY(buffer_printf(buffer, "out(result"));
    else
        TRY(buffer_printf(buffer, "out(%u", out->argument + 1));
    if (out->width != 4)
        TRY(buffer_printf(buffer, ":%u", out->width));
    for (uint32_t i = 0; i <= out->steps; i++) {
        uint64_t offset = i < out->steps ? out->before[i] : out->offset;
        if (offset != 0)
            TRY(buffer_printf(buffer, "%+" PRId64, (int64_t)offset));
        if (i < out->steps)
            TRY(buffer_printf(buffer, ">"));
    }
    if (out->kind == WIRE_OUT_KEPT)
        return buffer_printf(buffer, ")=kept");
    return buffer_printf(buffer, ")=%s%" PRId64, out->kind == WIRE_OUT_XOR ? "xor " : "",
                         (int64_t)out->value);
}

struct error *action_print(const struct actions *actions, struct buffer *buffer)
{
    const char *comma = "";
    if (actions->watch)
        return buffer_printf(buffer, "watch");
    if (actions->set & WIRE_OBSERVE)
        return buffer_printf(buffer, "observe");
    if (actions->set & WIRE_RETURN) {
        TRY(buffer_printf(buffer, "%s", actions->value_text.chars));
        if (actions->set & WIRE_ERRNO)
            TRY(print_named(buffer, "/", CONSTANT_ERRNO, actions->error));
        comma = ", ";
    } else if (actions->set & WIRE_ERRNO) {
        TRY(print_named(buffer, "errno only ", CONSTANT_ERRNO, actions->error));
        comma = ", ";
    }
    if (actions->set & WIRE_DELAY) {
        TRY(buffer_printf(buffer, "%s", comma));
        TRY(print_duration(buffer, actions->delay_ns));
        comma = ", ";
    }
    if (actions->set & WIRE_SIGNAL) {
        TRY(buffer_printf(buffer, "%s", comma));
        TRY(print_named(buffer, "signal ", CONSTANT_SIGNAL, actions->signal));
        comma = ", ";
    }
    if (actions->set & WIRE_SHORT) {
        TRY(buffer_printf(buffer, "%s", comma));
        TRY(print_short(actions, buffer));
        comma = ", ";
    }
    for (unsigned i = 0; i < actions->out_count; i++) {
        TRY(buffer_printf(buffer, "%s", comma));
        TRY(print_out(&actions->outs[i], buffer));
        comma = ", ";
    }
    if (actions->set & (WIRE_PERFORMED | WIRE_SKIPPED))
        TRY(buffer_printf(buffer, ", %s", actions->set & WIRE_PERFORMED ? "performed" : "skipped"));
    return actions->set & WIRE_AFTER ? buffer_printf(buffer, ", after") : NULL;
}
