// SPDX-License-Identifier: GPL-3.0-or-later
// Escapes bytes that are not safe to print.
#include "base/escape.h"

#include "base/cleanup.h"
#include "base/utf8.h"

static struct error *put_byte(struct buffer *text, unsigned char byte)
{
    if (byte == '\n')
        return buffer_append(text, "\\n", 2);
    if (byte == '\t')
        return buffer_append(text, "\\t", 2);
    return buffer_printf(text, "\\x%02x", byte);
}

struct error *escape_put(struct buffer *text, const char *bytes, size_t size, size_t most,
                         char quote)
{
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        unsigned length = utf8_decode(bytes + at, size - at, &character);
        size_t taken = length != 0 ? length : 1;
        if (at + taken > most)
            return buffer_append(text, "...", 3);
        bool raw = length != 0 && !utf8_is_control(character);
        for (size_t i = 0; !raw && i < taken; i++)
            TRY(put_byte(text, (unsigned char)bytes[at + i]));
        if (raw && quote != 0 && (bytes[at] == quote || bytes[at] == '\\'))
            TRY(buffer_append(text, "\\", 1));
        if (raw)
            TRY(buffer_append(text, bytes + at, taken));
        at += taken;
    }
    return NULL;
}
