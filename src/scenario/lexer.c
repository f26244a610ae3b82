// SPDX-License-Identifier: GPL-3.0-or-later
// Turns characters into tokens: numbers, durations, quoted texts, words and operators.
#include "scenario/lexer.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int peek(const struct lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->source->size ? (unsigned char)lexer->source->text[at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(int c)
{
    return is_name_start(c) || is_digit(c);
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int hex_digit(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void bad(struct lexer *lexer, const char *problem)
{
    lexer->token.kind = TOKEN_BAD;
    lexer->token.problem = problem;
}

// Reads one backslash escape, from just after the backslash on; -1 if it is none.
static int unescape(struct lexer *lexer)
{
    int c = peek(lexer, 0);
    lexer->at++;
    if (c == 'x') {
        int high = hex_digit(peek(lexer, 0)), low = hex_digit(peek(lexer, 1));
        if (high < 0 || low < 0 || high + low == 0)
            return -1;
        lexer->at += 2;
        return high * 16 + low;
    }
    if (c == 'n')
        return '\n';
    if (c == 't')
        return '\t';
    if (c == 'r')
        return '\r';
    return c > 0 && strchr("\\\"'*?[", c) != NULL ? c : -1;
}

// A quoted text while it is read: as it is, and as a glob in which escaped characters stay escaped.
struct quoted {
    struct buffer plain, glob;
};

static void quoted_deinit(struct quoted *quoted)
{
    buffer_deinit(&quoted->plain);
    buffer_deinit(&quoted->glob);
}

static struct error *quoted_add(struct quoted *quoted, int c, bool is_escaped)
{
    char bytes[2] = {'\\', (char)c};
    bool keeps = is_escaped && strchr("\\*?[", c) != NULL;
    TRY(buffer_append(&quoted->plain, bytes + 1, 1));
    return keeps ? buffer_append(&quoted->glob, bytes, 2)
                 : buffer_append(&quoted->glob, bytes + 1, 1);
}

static struct error *quoted_intern(struct lexer *lexer, const struct quoted *quoted,
                                   struct text *ret_text, struct text *ret_glob)
{
    TRY(strings_intern(lexer->strings, lexer->arena, quoted->plain.data, quoted->plain.size,
                       ret_text));
    return strings_intern(lexer->strings, lexer->arena, quoted->glob.data, quoted->glob.size,
                          ret_glob);
}

// Appends what the quotes at the current byte hold, and steps over them.
static struct error *read_quoted(struct lexer *lexer, struct quoted *quoted,
                                 const char **ret_problem)
{
    int quote = peek(lexer, 0);
    lexer->at++;
    for (;;) {
        int c = peek(lexer, 0);
        if (c < 0 || c == '\0') {
            *ret_problem = "this text has no closing quote";
            return NULL;
        }
        lexer->at++;
        if (c == quote)
            return NULL;
        bool is_escaped = c == '\\';
        if (is_escaped)
            c = unescape(lexer);
        if (c < 0) {
            *ret_problem = "unknown escape in this text (known: \\\\ \\\" \\' \\n \\t \\r \\xHH "
                           "\\* \\? \\[)";
            return NULL;
        }
        TRY(quoted_add(quoted, c, is_escaped));
    }
}

static struct error *lex_text(struct lexer *lexer)
{
    _cleanup_(quoted_deinit) struct quoted quoted = {0};
    const char *problem = NULL;
    TRY(read_quoted(lexer, &quoted, &problem));
    if (problem != NULL) {
        bad(lexer, problem);
        return NULL;
    }
    lexer->token.kind = TOKEN_TEXT;
    return quoted_intern(lexer, &quoted, &lexer->token.text, &lexer->token.glob);
}

static void lex_integer(struct lexer *lexer, unsigned base)
{
    uint64_t value = 0;
    int digit;
    while ((digit = hex_digit(peek(lexer, 0))) >= 0 && (base == 16 || digit < 10)) {
        if ((unsigned)digit >= base)
            bad(lexer, "a number that starts with 0 is octal, and has no digit 8 or 9");
        else if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
                 __builtin_add_overflow(value, (uint64_t)digit, &value))
            bad(lexer, "this number does not fit into 64 bits");
        lexer->at++;
    }
    lexer->token.integer = value;
    lexer->token.real = (double)value;
}

// The part of a decimal number from its dot or exponent on; false if there is none.
static bool skip_fraction(struct lexer *lexer)
{
    size_t start = lexer->at;
    if (peek(lexer, 0) == '.' && is_digit(peek(lexer, 1)))
        do
            lexer->at++;
        while (is_digit(peek(lexer, 0)));
    int c = peek(lexer, 0);
    if (c == 'e' || c == 'E') {
        int sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-';
        if (is_digit(peek(lexer, 1 + (size_t)sign)))
            for (lexer->at += 2 + (size_t)sign; is_digit(peek(lexer, 0));)
                lexer->at++;
    }
    return lexer->at != start;
}

static bool unit_ns(const char *unit, size_t size, uint64_t *ret_ns)
{
    static const struct {
        char name[3];
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == size && memcmp(units[i].name, unit, size) == 0) {
            *ret_ns = units[i].ns;
            return true;
        }
    return false;
}

static void apply_unit(struct lexer *lexer, uint64_t unit, bool is_real)
{
    struct token *token = &lexer->token;
    token->kind = TOKEN_DURATION;
    double ns = token->real * (double)unit;
    if (!(ns < 9.2e18))
        bad(lexer, "this duration is too long");
    else if (is_real)
        token->integer = (uint64_t)(ns + 0.5);
    else
        token->integer *= unit;
}

static void lex_suffix(struct lexer *lexer, bool is_real)
{
    const char *suffix = lexer->source->text + lexer->at;
    size_t size = 0;
    while (is_name(peek(lexer, 0))) {
        lexer->at++;
        size++;
    }
    uint64_t unit;
    if (lexer->token.kind == TOKEN_BAD || size == 0)
        return;
    if (unit_ns(suffix, size, &unit))
        apply_unit(lexer, unit, is_real);
    else if (is_real && size == 1 && strchr("fFlL", *suffix) != NULL)
        lexer->token.suffix = *suffix == 'f' || *suffix == 'F' ? 'f' : 'L';
    else if (size == 1 && strchr("fFlL", *suffix) != NULL)
        bad(lexer, "write an integer without suffix, or a floating point value with a dot: 1.0f "
                   "1.0 1.0L");
    else
        bad(lexer, "unknown unit after this number (known: ns us ms s)");
}

static struct error *lex_number(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    token->kind = TOKEN_INTEGER;
    if (peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X')) {
        lexer->at += 2;
        if (hex_digit(peek(lexer, 0)) < 0)
            bad(lexer, "0x needs digits after it");
        lex_integer(lexer, 16);
        lex_suffix(lexer, false);
        return NULL;
    }
    size_t start = lexer->at;
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
    bool is_real = skip_fraction(lexer);
    if (!is_real) {
        lexer->at = start;
        lex_integer(lexer, peek(lexer, 0) == '0' && is_digit(peek(lexer, 1)) ? 8 : 10);
    } else {
        char digits[64];
        size_t size = lexer->at - start;
        if (size >= sizeof digits) {
            bad(lexer, "this number has too many digits");
        } else {
            memcpy(digits, lexer->source->text + start, size);
            digits[size] = '\0';
            token->kind = TOKEN_REAL;
            token->real = strtod(digits, NULL);
        }
    }
    lex_suffix(lexer, is_real);
    return NULL;
}

static void lex_name(struct lexer *lexer)
{
    static const struct {
        const char *word;
        enum token_kind kind;
    } reserved[] = {{"and", TOKEN_AND},
                    {"or", TOKEN_OR},
                    {"not", TOKEN_NOT},
                    {"in", TOKEN_IN},
                    {"when", TOKEN_WHEN}};
    while (is_name(peek(lexer, 0)))
        lexer->at++;
    lexer->token.kind = TOKEN_NAME;
    lexer->token.end = lexer->at;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (lexer_is_name(lexer, reserved[i].word)) {
            lexer->token.kind = reserved[i].kind;
            return;
        }
}

static void lex_punctuation(struct lexer *lexer)
{
    static const struct {
        char chars[3];
        enum token_kind kind;
    } pairs[] = {{"==", TOKEN_EQUAL},         {"!=", TOKEN_NOT_EQUAL},  {"<=", TOKEN_LESS_EQUAL},
                 {">=", TOKEN_GREATER_EQUAL}, {"<<", TOKEN_SHIFT_LEFT}, {">>", TOKEN_SHIFT_RIGHT},
                 {"&&", TOKEN_AND},           {"||", TOKEN_OR},         {"..", TOKEN_RANGE}};
    int first = peek(lexer, 0), second = peek(lexer, 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].chars[0] == first && pairs[i].chars[1] == second) {
            lexer->token.kind = pairs[i].kind;
            lexer->at += 2;
            return;
        }
    lexer->at++;
    if (first > 0 && strchr("()[]{}.,:;=<>!~+-*/%&|^@?", first) != NULL)
        lexer->token.kind = (enum token_kind)first;
    else if (first >= 0x80) {
        // Step over a whole UTF-8 character, for the message.
        while (peek(lexer, 0) >= 0x80 && peek(lexer, 0) < 0xc0)
            lexer->at++;
        bad(lexer, "unexpected character");
    } else
        bad(lexer, "unexpected character");
}

struct error *lexer_next(struct lexer *lexer)
{
    while (is_blank(peek(lexer, 0)))
        lexer->at++;
    struct token *token = &lexer->token;
    *token = (struct token){.kind = TOKEN_END, .start = lexer->at};
    int c = peek(lexer, 0);
    if (c >= 0) {
        if (is_name_start(c))
            lex_name(lexer);
        else if (is_digit(c))
            TRY(lex_number(lexer));
        else if (c == '"' || c == '\'')
            TRY(lex_text(lexer));
        else
            lex_punctuation(lexer);
    }
    token->end = lexer->at;
    return NULL;
}

struct error *lexer_start(struct lexer *lexer, const struct source *source, struct arena *arena,
                          struct strings *strings, size_t at)
{
    *lexer = (struct lexer){.source = source, .arena = arena, .strings = strings, .at = at};
    return lexer_next(lexer);
}

// The size of a regular expression that begins here, with its slashes; 0: there is none. Other
// words with slashes, as paths of libraries, do not end with one.
static size_t regex_size(const struct lexer *lexer)
{
    const char *text = lexer->source->text + lexer->at;
    size_t left = lexer->source->size - lexer->at;
    for (size_t i = 1; i < left && !is_blank(text[i]) && strchr("=\"':", text[i]) == NULL; i++)
        if (text[i] == '/' &&
            (i + 1 == left || is_blank(text[i + 1]) || strchr("=,)", text[i + 1]) != NULL))
            return i + 1;
    return 0;
}

struct error *lexer_word(struct lexer *lexer, const char *stop, struct word *ret_word)
{
    _cleanup_(quoted_deinit) struct quoted quoted = {0};
    struct word word = {.start = lexer->token.start};
    lexer->at = lexer->token.start;
    for (;;) {
        int c = peek(lexer, 0);
        if (c <= 0 || is_blank(c) || strchr(stop, c) != NULL)
            break;
        if (c == '"' || c == '\'') {
            const char *problem = NULL;
            size_t start = lexer->at;
            TRY(read_quoted(lexer, &quoted, &problem));
            if (problem != NULL)
                return source_error(lexer->source, start, "%s", problem);
            word.quoted = true;
            continue;
        }
        bool begins = lexer->at == word.start || lexer->source->text[lexer->at - 1] == ':';
        for (size_t i = c == '/' && begins ? regex_size(lexer) : 0; i > 1; i--) {
            TRY(quoted_add(&quoted, peek(lexer, 0), false));
            lexer->at++;
        }
        TRY(quoted_add(&quoted, peek(lexer, 0), false));
        lexer->at++;
    }
    word.end = lexer->at;
    TRY(quoted_intern(lexer, &quoted, &word.text, &word.glob));
    TRY(lexer_next(lexer));
    *ret_word = word;
    return NULL;
}

bool lexer_is_name(const struct lexer *lexer, const char *name)
{
    const struct token *token = &lexer->token;
    size_t size = strlen(name);
    return token->kind == TOKEN_NAME && token->end - token->start == size &&
           memcmp(lexer->source->text + token->start, name, size) == 0;
}

struct error *lexer_unexpected(const struct lexer *lexer, const char *wanted)
{
    const struct token *token = &lexer->token;
    if (token->kind == TOKEN_BAD)
        return source_error(lexer->source, token->start, "%s", token->problem);
    if (token->kind == TOKEN_END)
        return source_error(lexer->source, token->start, "expected %s, but the text ends here",
                            wanted);
    size_t size = token->end - token->start;
    return source_error(lexer->source, token->start, "expected %s, found '%.*s'", wanted,
                        size < 60 ? (int)size : 60, lexer->source->text + token->start);
}

struct error *lexer_expect(struct lexer *lexer, enum token_kind kind, const char *wanted)
{
    if (lexer->token.kind != kind)
        return lexer_unexpected(lexer, wanted);
    return lexer_next(lexer);
}
