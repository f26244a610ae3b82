// SPDX-License-Identifier: GPL-3.0-or-later
// Packs traces: their lines are much alike.
#include "observe/trace.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HEADER sizeof(uint64_t) // the size of the text

struct error *trace_pack(const char *text, size_t size, struct buffer *packed)
{
    uLongf room = compressBound(size);
    uint64_t whole = size;
    _cleanup_free_ unsigned char *bytes = malloc(room);
    if (bytes == NULL ||
        compress2(bytes, &room, (const Bytef *)text, size, Z_DEFAULT_COMPRESSION) != Z_OK)
        return error_no_memory();
    TRY(buffer_append(packed, &whole, sizeof whole));
    return buffer_append(packed, bytes, room);
}

struct error *trace_unpack(const void *packed, size_t size, struct buffer *text)
{
    uint64_t whole = 0;
    if (size >= HEADER)
        memcpy(&whole, packed, sizeof whole);
    if (size < HEADER || whole > TRACE_MOST_BYTES)
        return error_new("a packed trace is damaged");
    uLongf got = (uLongf)whole;
    _cleanup_free_ unsigned char *bytes = malloc(got + 1);
    if (bytes == NULL)
        return error_no_memory();
    if (uncompress(bytes, &got, (const Bytef *)packed + HEADER, size - HEADER) != Z_OK ||
        got != whole)
        return error_new("a packed trace is damaged");
    return buffer_append(text, bytes, got);
}
