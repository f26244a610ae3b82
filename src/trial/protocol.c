// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes and decodes the words of the coordinator's protocol.
#include "trial/protocol.h"

#include "base/cleanup.h"

#include <string.h>

static bool is_plain(char c)
{
    return c != '\0' && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@"
                               "+-*~",
                               c) != NULL;
}

struct error *protocol_put_word(struct buffer *buffer, const char *text)
{
    if (*text == '\0')
        return buffer_append(buffer, "%", 1);
    for (; *text != '\0'; text++) {
        if (is_plain(*text))
            TRY(buffer_append(buffer, text, 1));
        else
            TRY(buffer_printf(buffer, "%%%02X", (unsigned char)*text));
    }
    return NULL;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool protocol_decode(char *text)
{
    if (strcmp(text, "%") == 0) {
        *text = '\0';
        return true;
    }
    char *to = text;
    for (; *text != '\0'; text++, to++) {
        *to = *text;
        if (*text != '%')
            continue;
        int high = digit(text[1]), low = high >= 0 ? digit(text[2]) : -1;
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *to = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}

char *protocol_next_part(char **cursor, char separator)
{
    char *part = *cursor;
    if (part == NULL || *part == '\0')
        return NULL;
    char *end = strchr(part, separator);
    if (end != NULL)
        *end = '\0';
    *cursor = end != NULL ? end + 1 : part + strlen(part);
    return part;
}

char *protocol_next_word(char **cursor)
{
    char *word = protocol_next_part(cursor, ' ');
    if (word != NULL && !protocol_decode(word)) {
        *cursor = NULL;
        return NULL;
    }
    return word;
}
