// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes UTF-8 in bytes that may hold anything.
#ifndef ORDEAL_BASE_UTF8_H
#define ORDEAL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The number of bytes of the character at `bytes`, and the character; 0 if it is not valid UTF-8
// (incomplete, overlong, a surrogate, beyond U+10FFFF). `size` must be at least 1.
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

// Whether a terminal acts on the character instead of showing it: C0, DEL, C1, and characters that
// have no width or change the direction of the text.
static inline bool utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x200b && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

#endif
