// SPDX-License-Identifier: GPL-3.0-or-later
// Which bytes are UTF-8: shortest forms only, no surrogates, nothing beyond U+10FFFF.
#include "store/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// How many bytes the character at `at` has; 0 if it is none.
static size_t character(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || size > left)
        return 0;
    uint32_t code = at[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[size] || code > 0x10ffff || surrogate ? 0 : size;
}

// How many bytes from `at` on are ASCII, in steps of eight: nearly all there ever is.
static size_t plain(const unsigned char *at, size_t left)
{
    size_t count = 0;
    for (uint64_t word; left - count >= sizeof word; count += sizeof word) {
        memcpy(&word, at + count, sizeof word);
        if ((word & 0x8080808080808080) != 0)
            break;
    }
    return count;
}

bool utf8_is_sound(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = plain(bytes, size); at < size;) {
        size_t length = character(bytes + at, size - at);
        if (length == 0)
            return false;
        at += length;
        at += plain(bytes + at, size - at);
    }
    return true;
}

char *utf8_repair(const char *text, size_t size, size_t *ret_size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    char *copy = size < SIZE_MAX / 4 ? malloc(3 * size + 1) : NULL;
    size_t written = 0;
    if (copy == NULL)
        return NULL;
    for (size_t at = 0; at < size;) {
        size_t length = character(bytes + at, size - at);
        memcpy(copy + written, length > 0 ? text + at : "\xef\xbf\xbd", length > 0 ? length : 3);
        written += length > 0 ? length : 3;
        at += length > 0 ? length : 1;
    }
    copy[written] = '\0';
    *ret_size = written;
    return copy;
}
