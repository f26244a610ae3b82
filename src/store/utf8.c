// SPDX-License-Identifier: GPL-3.0-or-later
// Finds bytes that are not UTF-8, and replaces them.
#include "store/utf8.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// How many bytes at the start are ASCII, in steps of eight. Nearly all text is nothing else.
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

bool utf8_is_valid(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t character;
    for (size_t at = plain(bytes, size); at < size;) {
        size_t length = utf8_decode(bytes + at, size - at, &character);
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
    uint32_t character;
    char *copy = size < SIZE_MAX / 4 ? malloc(3 * size + 1) : NULL;
    size_t written = 0;
    if (copy == NULL)
        return NULL;
    for (size_t at = 0; at < size;) {
        size_t length = utf8_decode(bytes + at, size - at, &character);
        memcpy(copy + written, length > 0 ? text + at : "\xef\xbf\xbd", length > 0 ? length : 3);
        written += length > 0 ? length : 3;
        at += length > 0 ? length : 1;
    }
    copy[written] = '\0';
    *ret_size = written;
    return copy;
}
