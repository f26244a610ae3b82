// SPDX-License-Identifier: GPL-3.0-or-later
// Writes bytes that targets produced as text for people: control characters escaped, cut to a
// number of columns, durations with a unit.
#include "report/text.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/utf8.h"

#include <string.h>

struct error *text_put(struct buffer *buffer, const char *bytes, size_t size, char quote)
{
    return escape_put(buffer, bytes, strnlen(bytes, size), SIZE_MAX, quote);
}

// Columns that a character takes on a terminal. A combining mark takes none but is counted as one:
// the worst that follows is a line that is too short.
static size_t columns_of(uint32_t point)
{
    static const uint32_t wide[][2] = {
        {0x1100, 0x115f},   {0x2329, 0x232a},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe6f},   {0xff01, 0xff60},
        {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f000, 0x1faff},
        {0x20000, 0x3ffff},
    };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (point >= wide[i][0] && point <= wide[i][1])
            return 2;
    // Terminals draw some of the older symbols as wide pictures.
    return point >= 0x231a && point <= 0x2bff ? 2 : 1;
}

// Columns of the character at `bytes` as text_put() writes it. Its length goes to *ret_length.
static size_t columns_put(const char *bytes, size_t size, size_t *ret_length)
{
    uint32_t point = 0;
    size_t length = utf8_decode(bytes, size, &point);
    *ret_length = length != 0 ? length : 1;
    if (length != 0 && !utf8_is_control(point))
        return columns_of(point);
    return *bytes == '\n' || *bytes == '\t' ? 2 : 4 * *ret_length;
}

struct error *text_put_fit(struct buffer *buffer, const char *bytes, size_t columns,
                           size_t *ret_used)
{
    size_t size = strlen(bytes), used = 0, short_size = 0, short_used = 0, at = 0;
    while (at < size) {
        size_t length, width = columns_put(bytes + at, size - at, &length);
        if (used + width > columns)
            break;
        at += length;
        used += width;
        if (used + 3 <= columns) {
            short_size = at;
            short_used = used;
        }
    }
    if (ret_used != NULL)
        *ret_used = at == size ? used : short_used + 3;
    if (at == size)
        return text_put(buffer, bytes, size, 0);
    TRY(text_put(buffer, bytes, short_size, 0));
    return buffer_append(buffer, "...", 3);
}

// Columns that the whole text takes as text_put() writes it.
static size_t columns_of_text(const char *text)
{
    size_t size = strlen(text), used = 0, length;
    for (size_t at = 0; at < size; at += length)
        used += columns_put(text + at, size - at, &length);
    return used;
}

struct error *text_put_path(struct buffer *buffer, const char *path, size_t columns)
{
    size_t size = strlen(path), left = columns_of_text(path), length;
    if (left <= columns)
        return text_put(buffer, path, SIZE_MAX, 0);
    const char *name = path;
    for (size_t at = 0; at < size; at += length) {
        left -= columns_put(path + at, size - at, &length);
        if (path[at] != '/')
            continue;
        name = path + at + 1;
        if (left + 4 <= columns) {
            TRY(buffer_append(buffer, ".../", 4));
            return text_put(buffer, name, SIZE_MAX, 0);
        }
    }
    return text_put_fit(buffer, name, columns, NULL);
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
        size_t length = utf8_decode(bytes + at, size - at, &point);
        TRY(length != 0 ? buffer_append(buffer, bytes + at, length)
                        : buffer_append(buffer, "\xef\xbf\xbd", 3));
        at += length != 0 ? length : 1;
    }
    // Without this, a buffer that nothing was appended to would have no data at all.
    return buffer_append(buffer, "", 0);
}

struct error *text_put_duration(struct buffer *buffer, uint64_t ns)
{
    if (ns < NS_PER_MS)
        return buffer_printf(buffer, "%.0f us", (double)ns / (double)NS_PER_US);
    if (ns < NS_PER_S)
        return buffer_printf(buffer, "%.1f ms", (double)ns / (double)NS_PER_MS);
    return buffer_printf(buffer, "%.2f s", clock_seconds(ns));
}

struct error *text_put_seconds(struct buffer *buffer, double seconds)
{
    bool sane = seconds >= 0 && seconds < 1e9;
    return text_put_duration(buffer, sane ? (uint64_t)(seconds * (double)NS_PER_S) : 0);
}
