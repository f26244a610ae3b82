// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that is taken in small pieces and released all at once. An arena starts zeroed and ends
// with arena_deinit(). A piece stays where it is until then.
#ifndef ORDEAL_BASE_ARENA_H
#define ORDEAL_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks; // pieces are taken from the first one
};

// Zeroed memory, aligned for any type. NULL only when memory is short, also for 0 bytes; what was
// taken before stays valid.
void *arena_alloc(struct arena *arena, size_t size);
// A copy of `size` bytes and a NUL after them; NULL when memory is short. It is not aligned, so
// that texts lie close together. `chars` may be NULL if `size` is 0.
char *arena_copy(struct arena *arena, const char *chars, size_t size);
void arena_deinit(struct arena *arena);

#endif
