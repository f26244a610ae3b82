// SPDX-License-Identifier: GPL-3.0-or-later
// Quotes bytes that targets wrote, with base/escape.h.
#include "base/quote.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/secrets.h"

#include <string.h>

struct error *quote_put(struct buffer *buffer, const char *bytes, size_t size, size_t most)
{
    // Before anything is cut off or escaped: afterwards a secret is no longer recognized.
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    if (!secrets_any())
        return escape_put(buffer, bytes, size, most, 0);
    TRY(secrets_put(&masked, bytes, size));
    return escape_put(buffer, masked.data != NULL ? masked.data : "", masked.size, most, 0);
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
