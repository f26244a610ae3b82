// SPDX-License-Identifier: GPL-3.0-or-later
// See quote.h.
#include "campaign/quote.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

static struct error *put_escaped(struct buffer *buffer, unsigned char byte)
{
    if (byte == '\n')
        return buffer_append(buffer, "\\n", 2);
    if (byte == '\t')
        return buffer_append(buffer, "\\t", 2);
    return buffer_printf(buffer, "\\x%02x", byte);
}

struct error *quote_put(struct buffer *buffer, const char *bytes, size_t size, size_t most)
{
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        unsigned length = utf8_decode(bytes + at, size - at, &character);
        size_t taken = length != 0 ? length : 1;
        if (at + taken > most)
            return buffer_append(buffer, "...", 3);
        bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
        for (size_t i = 0; (length == 0 || control) && i < taken; i++)
            TRY(put_escaped(buffer, (unsigned char)bytes[at + i]));
        if (length != 0 && !control)
            TRY(buffer_append(buffer, bytes + at, taken));
        at += taken;
    }
    return NULL;
}

struct error *quote_put_word(struct buffer *buffer, const char *bytes, size_t size)
{
    TRY(buffer_append(buffer, "'", 1));
    TRY(quote_put(buffer, bytes, size, QUOTE_MOST));
    return buffer_append(buffer, "'", 1);
}

struct error *quote_put_last_line(struct buffer *buffer, const char *prefix, const char *bytes,
                                  size_t size)
{
    while (size > 0 && strchr(" \t\r\n", bytes[size - 1]) != NULL)
        size--;
    if (size == 0)
        return NULL;
    const char *newline = memrchr(bytes, '\n', size);
    size_t start = newline != NULL ? (size_t)(newline + 1 - bytes) : 0;
    TRY(buffer_append(buffer, prefix, strlen(prefix)));
    return quote_put_word(buffer, bytes + start, size - start);
}
