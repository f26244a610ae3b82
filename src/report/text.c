// SPDX-License-Identifier: GPL-3.0-or-later
// See text.h.
#include "report/text.h"

#include "base/cleanup.h"

#include <string.h>

// Length of the UTF-8 sequence at `bytes`, or 0 if there is none; its code point in *ret_point.
static size_t sequence(const unsigned char *bytes, size_t size, uint32_t *ret_point)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = bytes[0];
    size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    if (length == 0 || length > size || lead >= 0xf8)
        return 0;
    uint32_t point = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3f);
    }
    if (point < lowest[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    *ret_point = point;
    return length;
}

// Characters a terminal acts upon instead of showing them, among them those that turn the
// direction of the text around.
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
           (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

static struct error *put_escaped(struct buffer *buffer, unsigned char byte)
{
    if (byte == '\n')
        return buffer_append(buffer, "\\n", 2);
    if (byte == '\t')
        return buffer_append(buffer, "\\t", 2);
    return buffer_printf(buffer, "\\x%02x", byte);
}

struct error *text_put(struct buffer *buffer, const char *bytes, size_t size, char quote)
{
    size = strnlen(bytes, size);
    for (size_t at = 0; at < size;) {
        uint32_t point = 0;
        size_t length = sequence((const unsigned char *)bytes + at, size - at, &point);
        if (length == 0 || is_control(point)) {
            for (size_t i = 0; i < (length != 0 ? length : 1); i++)
                TRY(put_escaped(buffer, (unsigned char)bytes[at + i]));
        } else {
            if (quote != 0 && (bytes[at] == quote || bytes[at] == '\\'))
                TRY(buffer_append(buffer, "\\", 1));
            TRY(buffer_append(buffer, bytes + at, length));
        }
        at += length != 0 ? length : 1;
    }
    return NULL;
}

struct error *text_put_lines(struct buffer *buffer, const char *text)
{
    for (;;) {
        size_t size = strcspn(text, "\n\t");
        TRY(text_put(buffer, text, size, 0));
        text += size;
        if (*text == '\0')
            return NULL;
        TRY(buffer_append(buffer, text++, 1));
    }
}

struct error *text_put_utf8(struct buffer *buffer, const char *bytes, size_t size)
{
    size = strnlen(bytes, size);
    for (size_t at = 0; at < size;) {
        uint32_t point;
        size_t length = sequence((const unsigned char *)bytes + at, size - at, &point);
        TRY(length != 0 ? buffer_append(buffer, bytes + at, length)
                        : buffer_append(buffer, "\xef\xbf\xbd", 3));
        at += length != 0 ? length : 1;
    }
    // A buffer that nothing was appended to has no text at all.
    return buffer_append(buffer, "", 0);
}

struct error *text_put_word(struct buffer *buffer, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (*word != '\0' && word[strspn(word, plain)] == '\0')
        return buffer_append(buffer, word, strlen(word));
    TRY(buffer_append(buffer, "'", 1));
    for (const char *part = word;; part++) {
        size_t size = strcspn(part, "'");
        TRY(text_put(buffer, part, size, 0));
        part += size;
        if (*part == '\0')
            return buffer_append(buffer, "'", 1);
        TRY(buffer_append(buffer, "'\\''", 4));
    }
}

struct error *text_put_duration(struct buffer *buffer, uint64_t ns)
{
    if (ns < 1000000)
        return buffer_printf(buffer, "%.0f us", (double)ns / 1e3);
    if (ns < 1000000000)
        return buffer_printf(buffer, "%.1f ms", (double)ns / 1e6);
    return buffer_printf(buffer, "%.2f s", (double)ns / 1e9);
}
