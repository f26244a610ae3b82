// SPDX-License-Identifier: GPL-3.0-or-later
// Where a scenario keeps its memory: an arena for everything that lives as long as it, a map from
// 64-bit keys to indexes, and the interned strings that become the plan's string table.
#ifndef ORDEAL_SCENARIO_STORE_H
#define ORDEAL_SCENARIO_STORE_H

#include "base/array.h"

#include <stdint.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks;
};
// Zeroed memory that lives until arena_deinit; NULL when memory is short.
void *arena_alloc(struct arena *arena, size_t size);
// A NUL-terminated copy; NULL when memory is short.
char *arena_copy(struct arena *arena, const char *chars, size_t size);
void arena_deinit(struct arena *arena);

struct map_entry {
    uint64_t key;
    uint32_t value; // + 1; 0 = free
};
struct map {
    struct map_entry *entries;
    size_t count, room;
};
#define MAP_NONE 0xffffffffu
uint32_t map_find(const struct map *map, uint64_t key);
// The key must not be in the map yet.
struct error *map_put(struct map *map, uint64_t key, uint32_t value);
void map_deinit(struct map *map);

// An interned string: its characters stay where they are, `offset` is its place in the plan's
// string table. The zero value is the empty string.
struct text {
    const char *chars;
    uint32_t size, offset;
};
struct strings {
    ARRAY(struct text) list;
    struct map by_hash;
    uint64_t bytes; // of the table so far
};
struct error *strings_intern(struct strings *strings, struct arena *arena, const char *chars,
                             size_t size, struct text *ret_text);
void strings_deinit(struct strings *strings);

#endif
