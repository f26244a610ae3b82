// SPDX-License-Identifier: GPL-3.0-or-later
// A hash of bytes for tables in memory (FNV-1a). Do not use it for anything that leaves the
// process.
#ifndef ORDEAL_BASE_HASH_H
#define ORDEAL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211ull;
    return hash;
}

static inline uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text));
}

// Adds one word, which may be a hash itself, to a hash.
static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

#endif
