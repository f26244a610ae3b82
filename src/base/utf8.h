// SPDX-License-Identifier: GPL-3.0-or-later
// Characters in bytes that may be anything.
#ifndef ORDEAL_BASE_UTF8_H
#define ORDEAL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many bytes the character at `bytes` has, and which one it is; 0 if that is no UTF-8
// (incomplete, overlong, a surrogate, beyond U+10FFFF). `size` is at least 1.
static inline unsigned utf8_decode(const void *bytes, size_t size, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)bytes;
    unsigned length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > size || at[0] > 0xf4)
        return 0;
    uint32_t character = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (at[i] & 0x3fu);
    }
    if (character < least[length] || (character >= 0xd800 && character < 0xe000) ||
        character > 0x10ffff)
        return 0;
    *ret_character = character;
    return length;
}

// Characters a terminal acts upon instead of showing them: C0, DEL, C1, and those that take no room
// or turn the direction of the text around.
static inline bool utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x200b && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

#endif
