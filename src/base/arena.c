// SPDX-License-Identifier: GPL-3.0-or-later
// Takes memory from chunks of 64 KiB. A large piece that does not fit gets a chunk of its own.
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE (1u << 16)
#define LARGE      (CHUNK_SIZE / 4) // gets a chunk of its own if it does not fit
#define ALIGNMENT  _Alignof(max_align_t)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, room;
    max_align_t bytes[];
};

static struct arena_chunk *add_chunk(struct arena *arena, size_t size)
{
    bool alone = size > LARGE;
    size_t room = alone ? size : CHUNK_SIZE;
    struct arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL)
        return NULL;
    // A large chunk goes behind the first one, whose rest can still be used.
    struct arena_chunk **place =
        alone && arena->chunks != NULL ? &arena->chunks->next : &arena->chunks;
    *chunk = (struct arena_chunk){.next = *place, .room = room};
    *place = chunk;
    return chunk;
}

static void *take(struct arena *arena, size_t size, size_t alignment)
{
    struct arena_chunk *chunk = arena->chunks;
    size_t start = chunk != NULL ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;
    if (size > SIZE_MAX / 2)
        return NULL;
    if (chunk == NULL || start > chunk->room || size > chunk->room - start) {
        chunk = add_chunk(arena, size);
        if (chunk == NULL)
            return NULL;
        start = 0;
    }
    chunk->used = start + size;
    return (char *)chunk->bytes + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *memory = take(arena, size, ALIGNMENT);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

char *arena_copy(struct arena *arena, const char *chars, size_t size)
{
    char *copy = size < SIZE_MAX ? take(arena, size + 1, 1) : NULL;
    if (copy == NULL)
        return NULL;
    if (size != 0)
        memcpy(copy, chars, size);
    copy[size] = '\0';
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
