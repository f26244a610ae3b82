// SPDX-License-Identifier: GPL-3.0-or-later
// See store.h. The map uses linear probing and never removes; strings whose 64-bit hashes collide
// are stored twice, which costs bytes but is never wrong.
#include "scenario/store.h"

#include "base/hash.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE (1u << 16)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, room;
    _Alignas(16) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    struct arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || size > chunk->room - chunk->used) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct arena_chunk){.next = arena->chunks, .room = room};
        arena->chunks = chunk;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(memory, 0, size);
}

char *arena_copy(struct arena *arena, const char *chars, size_t size)
{
    char *copy = arena_alloc(arena, size + 1);
    if (copy != NULL && size != 0)
        memcpy(copy, chars, size);
    return copy;
}

void arena_deinit(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

static size_t map_slot(const struct map *map, uint64_t key)
{
    uint64_t mixed = key * 0x9e3779b97f4a7c15ull;
    size_t slot = (size_t)(mixed ^ mixed >> 32) & (map->room - 1);
    while (map->entries[slot].value != 0 && map->entries[slot].key != key)
        slot = (slot + 1) & (map->room - 1);
    return slot;
}

uint32_t map_find(const struct map *map, uint64_t key)
{
    return map->room != 0 ? map->entries[map_slot(map, key)].value - 1 : MAP_NONE;
}

static struct error *map_grow(struct map *map)
{
    struct map grown = {.count = map->count, .room = map->room != 0 ? map->room * 2 : 64};
    grown.entries = calloc(grown.room, sizeof *grown.entries);
    if (grown.entries == NULL)
        return error_no_memory();
    for (size_t i = 0; i < map->room; i++)
        if (map->entries[i].value != 0)
            grown.entries[map_slot(&grown, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = grown;
    return NULL;
}

struct error *map_put(struct map *map, uint64_t key, uint32_t value)
{
    if (map->count + 1 > map->room / 2)
        TRY(map_grow(map));
    map->entries[map_slot(map, key)] = (struct map_entry){key, value + 1};
    map->count++;
    return NULL;
}

void map_deinit(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}

struct error *strings_intern(struct strings *strings, struct arena *arena, const char *chars,
                             size_t size, struct text *ret_text)
{
    if (size == 0) {
        *ret_text = (struct text){.chars = ""};
        return NULL;
    }
    uint64_t hash = hash_bytes(chars, size);
    uint32_t found = map_find(&strings->by_hash, hash);
    if (found != MAP_NONE) {
        const struct text *text = &strings->list.items[found];
        if (text->size == size && memcmp(text->chars, chars, size) == 0) {
            *ret_text = *text;
            return NULL;
        }
    }
    uint64_t offset = strings->bytes != 0 ? strings->bytes : 1; // offset 0 is the empty string
    if (offset + size + 1 > UINT32_MAX / 2)
        return error_new("the scenario is too large: its texts exceed 2 GiB");
    const char *copy = arena_copy(arena, chars, size);
    if (copy == NULL)
        return error_no_memory();
    if (found == MAP_NONE)
        TRY(map_put(&strings->by_hash, hash, (uint32_t)strings->list.count));
    struct text *text = ARRAY_ADD(&strings->list);
    if (text == NULL)
        return error_no_memory();
    *text = (struct text){copy, (uint32_t)size, (uint32_t)offset};
    strings->bytes = offset + size + 1;
    *ret_text = *text;
    return NULL;
}

void strings_deinit(struct strings *strings)
{
    ARRAY_DEINIT(&strings->list);
    map_deinit(&strings->by_hash);
}
