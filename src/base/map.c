// SPDX-License-Identifier: GPL-3.0-or-later
// A hash table with open addressing and linear probing, at most half full.
#include "base/map.h"

#include "base/cleanup.h"

#include <string.h>

#define SMALLEST 64

static size_t home(const struct map *map, uint64_t key)
{
    uint64_t mixed = key * 0x9e3779b97f4a7c15ull;
    return (size_t)(mixed ^ mixed >> 32) & (map->room - 1);
}

static struct map_entry *first_free(const struct map *map, uint64_t key)
{
    size_t at = home(map, key);
    while (map->entries[at].value != 0)
        at = (at + 1) & (map->room - 1);
    return &map->entries[at];
}

// The entry of a key, or a free one for it.
static struct map_entry *entry_of(const struct map *map, uint64_t key)
{
    size_t at = home(map, key);
    while (map->entries[at].value != 0 && map->entries[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->entries[at];
}

void map_deinit(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}

void map_clear(struct map *map)
{
    size_t room = SMALLEST;
    while (room / 2 < map->count)
        room *= 2;
    if (map->room > room)
        map->room = room; // the entries behind it are unused until the table grows
    if (map->count != 0)
        memset(map->entries, 0, map->room * sizeof *map->entries);
    map->count = 0;
}

// Starts behind a free entry, so that a run of entries that wraps around the end is moved in order:
// values of one key must keep their order.
static void move_entries(const struct map *from, const struct map *to)
{
    size_t start = 0;
    while (start < from->room && from->entries[start].value != 0)
        start++;
    for (size_t i = 0; i < from->room; i++) {
        const struct map_entry *entry = &from->entries[(start + i) & (from->room - 1)];
        if (entry->value != 0)
            *first_free(to, entry->key) = *entry;
    }
}

struct error *map_reserve(struct map *map, size_t count)
{
    struct map grown = {.count = map->count, .room = map->room != 0 ? map->room : SMALLEST};
    if (count <= map->room / 2)
        return NULL;
    if (count > SIZE_MAX / 4 / sizeof *grown.entries)
        return error_no_memory();
    while (grown.room / 2 < count)
        grown.room *= 2;
    grown.entries = calloc(grown.room, sizeof *grown.entries);
    if (grown.entries == NULL)
        return error_no_memory();
    move_entries(map, &grown);
    free(map->entries);
    *map = grown;
    return NULL;
}

// Inline, because nearly always there is room already.
static inline struct error *make_room(struct map *map)
{
    return map->count < map->room / 2 ? NULL : map_reserve(map, map->count + 1);
}

uint32_t map_find(const struct map *map, uint64_t key)
{
    return map->room != 0 ? entry_of(map, key)->value - 1 : MAP_NONE;
}

uint32_t map_find_equal(const struct map *map, uint64_t hash, map_is_equal *is_equal,
                        const void *sought)
{
    if (map->room == 0)
        return MAP_NONE;
    for (size_t at = home(map, hash);; at = (at + 1) & (map->room - 1)) {
        const struct map_entry *entry = &map->entries[at];
        if (entry->value == 0)
            return MAP_NONE;
        if (entry->key == hash && is_equal(sought, entry->value - 1))
            return entry->value - 1;
    }
}

struct error *map_put(struct map *map, uint64_t key, uint32_t value)
{
    TRY(make_room(map));
    *first_free(map, key) = (struct map_entry){key, value + 1};
    map->count++;
    return NULL;
}

struct error *map_add(struct map *map, uint64_t key, bool *ret_new)
{
    TRY(make_room(map));
    struct map_entry *entry = entry_of(map, key);
    bool new = entry->value == 0;
    if (new) {
        *entry = (struct map_entry){key, 1};
        map->count++;
    }
    if (ret_new != NULL)
        *ret_new = new;
    return NULL;
}
