// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts the text of a C header into words and signs. Comments are kept: those in front of a
// declaration and in it tell what it means.
#ifndef ORDEAL_PROFILE_HEADER_TOKEN_H
#define ORDEAL_PROFILE_HEADER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct word {
    const char *text;
    size_t size;
};

struct token {
    struct word word; // or
    char sign;        // if the word is empty; '\0' at the end of the text
};

struct header_reader {
    const char *at, *end;
    bool line_start;      // nothing but spaces since the beginning of the line
    struct word comment;  // the last one at the beginning of a line, if no token followed
    struct word comments; // all since the last token, from the first to the last
};

struct token token_next(struct header_reader *reader);
bool token_is_sign(const struct token *token, char sign);

bool word_is(const struct word *word, const char *text);
// In small or capital letters.
bool word_ends_with(const struct word *word, const char *end);

#endif
