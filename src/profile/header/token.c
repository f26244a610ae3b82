// SPDX-License-Identifier: GPL-3.0-or-later
// Passes over what is no token: space, comments, lines for the preprocessor, texts in quotes.
#include "profile/header/token.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool continues_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Passes over the rest of a line; a backslash at its end continues it.
static void skip_line(struct header_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->end - reader->at > 1)
            reader->at++;
        reader->at++;
    }
}

static void skip_quoted(struct header_reader *reader)
{
    char quote = *reader->at++;
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->end - reader->at > 1)
            reader->at++;
        reader->at++;
    }
    if (reader->at < reader->end)
        reader->at++;
}

static void skip_comment(struct header_reader *reader)
{
    reader->at += 2;
    while (reader->end - reader->at > 1 && (reader->at[0] != '*' || reader->at[1] != '/'))
        reader->at++;
    reader->at = reader->end - reader->at > 1 ? reader->at + 2 : reader->end;
}

// Keeps a comment that ended just now. Those in lines that follow each other are one.
static void note_comment(struct header_reader *reader, const char *start)
{
    struct word *comment = &reader->comment, *comments = &reader->comments;
    if (comments->size == 0)
        comments->text = start;
    comments->size = (size_t)(reader->at - comments->text);
    if (!reader->line_start)
        return;
    const char *gap = comment->size != 0 ? comment->text + comment->size : start;
    while (gap < start && isspace((unsigned char)*gap))
        gap++;
    if (comment->size == 0 || gap != start || comment->text[1] != '/' || start[1] != '/')
        comment->text = start;
    comment->size = (size_t)(reader->at - comment->text);
}

static bool starts_word(const struct header_reader *reader, const char *word)
{
    const char *at = reader->at + 1;
    while (at < reader->end && (*at == ' ' || *at == '\t'))
        at++;
    return (size_t)(reader->end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

// Passes over a comment, or a line for the preprocessor. A comment in front of a macro is about it.
static void skip_text(struct header_reader *reader)
{
    const char *start = reader->at;
    if (*start == '#' && !starts_word(reader, "if") && !starts_word(reader, "e"))
        reader->comment.size = reader->comments.size = 0;
    if (start[0] == '/' && start[1] == '*')
        skip_comment(reader);
    else
        skip_line(reader);
    if (*start == '/')
        note_comment(reader, start);
}

// Passes over what is no token: space, comments, lines for the preprocessor, texts.
static bool skip_one(struct header_reader *reader)
{
    char c = *reader->at;
    char next = '\0';
    if (reader->end - reader->at > 1)
        next = reader->at[1];
    if (isspace((unsigned char)c)) {
        reader->line_start |= c == '\n';
        reader->at++;
    } else if ((c == '/' && (next == '*' || next == '/')) || (c == '#' && reader->line_start)) {
        skip_text(reader);
    } else if (c == '"' || c == '\'') {
        skip_quoted(reader);
    } else {
        return false;
    }
    return true;
}

struct token token_next(struct header_reader *reader)
{
    while (reader->at < reader->end && skip_one(reader))
        ;
    if (reader->at >= reader->end)
        return (struct token){.sign = '\0'};
    reader->line_start = false;
    const char *start = reader->at++;
    if (!continues_word(*start))
        return (struct token){.sign = *start != '\0' ? *start : ' '};
    while (reader->at < reader->end && continues_word(*reader->at))
        reader->at++;
    return (struct token){.word = {start, (size_t)(reader->at - start)}};
}

bool token_is_sign(const struct token *token, char sign)
{
    return token->word.size == 0 && token->sign == sign;
}

bool word_is(const struct word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(word->text, text, word->size) == 0;
}

bool word_ends_with(const struct word *word, const char *end)
{
    size_t size = strlen(end);
    return word->size >= size && strncasecmp(word->text + word->size - size, end, size) == 0;
}
