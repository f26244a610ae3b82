// SPDX-License-Identifier: GPL-3.0-or-later
// See quote.h. Bytes beyond ASCII stay: whoever shows or stores the sentence knows what its medium
// makes of them. C1 controls are the exception, as terminals obey them.
#include "campaign/quote.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

static bool is_control(const unsigned char *at, size_t left)
{
    return at[0] < 0x20 || at[0] == 0x7f ||
           (at[0] == 0xc2 && left > 1 && at[1] >= 0x80 && at[1] < 0xa0);
}

static struct error *put_escaped(struct buffer *buffer, unsigned char byte)
{
    if (byte == '\n')
        return buffer_append(buffer, "\\n", 2);
    if (byte == '\t')
        return buffer_append(buffer, "\\t", 2);
    return buffer_printf(buffer, "\\x%02x", byte);
}

// Where to cut so that no character is cut in two.
static size_t boundary(const char *bytes, size_t most)
{
    size_t at = most;
    while (at > 0 && most - at < 4 && ((unsigned char)bytes[at] & 0xc0) == 0x80)
        at--;
    return most - at < 4 ? at : most;
}

struct error *quote_put(struct buffer *buffer, const char *bytes, size_t size, size_t most)
{
    bool cut = size > most;
    if (cut)
        size = boundary(bytes, most);
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; i++) {
        if (!is_control(at + i, size - i)) {
            TRY(buffer_append(buffer, at + i, 1));
            continue;
        }
        TRY(put_escaped(buffer, at[i]));
        if (at[i] == 0xc2)
            TRY(put_escaped(buffer, at[++i]));
    }
    return cut ? buffer_append(buffer, "...", 3) : NULL;
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
