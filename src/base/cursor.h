// SPDX-License-Identifier: GPL-3.0-or-later
// A bounds-checked reader of foreign bytes. A read past the end sets `failed` and gives zero, so
// that a parser can check once after several reads.
#ifndef ORDEAL_BASE_CURSOR_H
#define ORDEAL_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const unsigned char *data;
    size_t size, at;
    bool failed;
};

static inline const void *cursor_bytes(struct cursor *cursor, size_t size)
{
    if (cursor->failed || size > cursor->size - cursor->at) {
        cursor->failed = true;
        return NULL;
    }
    const void *bytes = cursor->data + cursor->at;
    cursor->at += size;
    return bytes;
}
static inline void cursor_copy(struct cursor *cursor, void *target, size_t size)
{
    const void *bytes = cursor_bytes(cursor, size);
    if (bytes != NULL)
        memcpy(target, bytes, size);
    else
        memset(target, 0, size);
}
static inline uint8_t cursor_u8(struct cursor *cursor)
{
    uint8_t value;
    cursor_copy(cursor, &value, sizeof value);
    return value;
}
// A number of any length up to 64 bits, as in DWARF.
static inline uint64_t cursor_uleb128(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    cursor->failed = true;
    return 0;
}
static inline uint32_t cursor_u32(struct cursor *cursor)
{
    uint32_t value;
    cursor_copy(cursor, &value, sizeof value);
    return value;
}
static inline uint64_t cursor_u64(struct cursor *cursor)
{
    uint64_t value;
    cursor_copy(cursor, &value, sizeof value);
    return value;
}

#endif
