// SPDX-License-Identifier: GPL-3.0-or-later
// Quotes words so that a shell reads them back unchanged.
#include "base/shell.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

static bool is_plain(const char *word)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-";
    if (*word == '\0')
        return false;
    for (const char *at = word; *at != '\0'; at++)
        // A shell takes NAME=VALUE in front of a command for an assignment.
        if (strchr(safe, *at) == NULL && !(*at == '=' && word[0] == '-'))
            return false;
    return true;
}

static bool is_printable(const char *word)
{
    for (size_t left = strlen(word); left != 0;) {
        uint32_t character;
        unsigned size = utf8_decode(word, left, &character);
        if (size == 0 || utf8_is_control(character))
            return false;
        word += size;
        left -= size;
    }
    return true;
}

static struct error *put_quoted(struct buffer *text, const char *word)
{
    TRY(buffer_append(text, "'", 1));
    for (const char *at = word; *at != '\0';) {
        size_t size = strcspn(at, "'");
        TRY(buffer_append(text, at, size));
        at += size;
        if (*at == '\'') {
            TRY(buffer_append(text, "'\\''", 4));
            at++;
        }
    }
    return buffer_append(text, "'", 1);
}

// Also escapes the quote as a number, not as \': a shell that does not know $'...' would take that
// for the end of the word, and what follows for commands.
static struct error *put_escaped(struct buffer *text, const char *word)
{
    TRY(buffer_append(text, "$'", 2));
    for (const char *at = word; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '\\')
            TRY(buffer_append(text, "\\\\", 2));
        else if (byte == '\n')
            TRY(buffer_append(text, "\\n", 2));
        else if (byte < ' ' || byte > '~' || byte == '\'')
            TRY(buffer_printf(text, "\\%03o", byte));
        else
            TRY(buffer_append(text, at, 1));
    }
    return buffer_append(text, "'", 1);
}

struct error *shell_put_word(struct buffer *text, const char *word)
{
    if (is_plain(word))
        return buffer_append(text, word, strlen(word));
    return is_printable(word) ? put_quoted(text, word) : put_escaped(text, word);
}

struct error *shell_put_words(struct buffer *text, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(buffer_append(text, " ", i == 0 ? 0 : 1));
        TRY(shell_put_word(text, words[i]));
    }
    return NULL;
}
