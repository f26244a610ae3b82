// SPDX-License-Identifier: GPL-3.0-or-later
// Turns characters into tokens. The lexer never fails on bad input: it gives a TOKEN_BAD that says
// what is wrong, so that a parser that reads raw words (frames, names) can step over it. It fails
// only when memory is short.
#ifndef ORDEAL_SCENARIO_LEXER_H
#define ORDEAL_SCENARIO_LEXER_H

#include "scenario/source.h"
#include "scenario/texts.h"

#include <stdbool.h>

enum token_kind { // punctuation of one character is its own kind
    TOKEN_END = 256,
    TOKEN_NAME,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_DURATION, // integer is nanoseconds
    TOKEN_TEXT,
    TOKEN_BAD,
    TOKEN_EQUAL,         // ==
    TOKEN_NOT_EQUAL,     // !=
    TOKEN_LESS_EQUAL,    // <=
    TOKEN_GREATER_EQUAL, // >=
    TOKEN_SHIFT_LEFT,    // <<
    TOKEN_SHIFT_RIGHT,   // >>
    TOKEN_AND,           // && or `and`
    TOKEN_OR,            // || or `or`
    TOKEN_NOT,           // `not`
    TOKEN_IN,            // `in`
    TOKEN_RANGE,         // ..
    TOKEN_WHEN,          // `when`
};

struct token {
    enum token_kind kind;
    size_t start, end;   // in the source
    uint64_t integer;    // also the value of a duration
    double real;         // also the value of an integer
    char suffix;         // of a real: f, L or 0
    struct text text;    // TOKEN_TEXT: what the quotes hold
    struct text glob;    // the same as a glob: escaped characters stay escaped
    const char *problem; // TOKEN_BAD
};

struct lexer {
    const struct source *source;
    struct arena *arena;
    struct strings *strings;
    size_t at; // first byte after `token`
    struct token token;
};

// Reads the first token.
_must_check_ struct error *lexer_start(struct lexer *lexer, const struct source *source,
                                       struct arena *arena, struct strings *strings, size_t at);
_must_check_ struct error *lexer_next(struct lexer *lexer);

// The bytes from the current token's start up to a blank or one of `stop`, quotes removed; the
// token after them becomes the current one. May be empty.
struct word {
    struct text text, glob; // glob: as in struct token
    size_t start, end;
    bool quoted; // some of it stood in quotes
};
_must_check_ struct error *lexer_word(struct lexer *lexer, const char *stop, struct word *ret_word);

bool lexer_is_name(const struct lexer *lexer, const char *name);
// "expected WANTED, found 'x'", or the problem of a bad token.
_must_check_ struct error *lexer_unexpected(const struct lexer *lexer, const char *wanted);
// Steps over a token of that kind. Fails if the current token is another one.
_must_check_ struct error *lexer_expect(struct lexer *lexer, enum token_kind kind,
                                        const char *wanted);

#endif
