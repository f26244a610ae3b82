// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that is taken in small pieces and given back as a whole. Starts zeroed, is released with
// arena_deinit().
#ifndef ORDEAL_BASE_ARENA_H
#define ORDEAL_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks; // pieces are taken from the first one
};

// Zeroed memory, aligned for any type, that stays where it is until arena_deinit(). NULL when
// memory is short; what was taken before is unharmed. Never NULL for 0 bytes otherwise.
void *arena_alloc(struct arena *arena, size_t size);
// A copy of `size` bytes, followed by a NUL, likewise; not aligned, so that texts lie close
// together. `chars` may be NULL if there are none.
char *arena_copy(struct arena *arena, const char *chars, size_t size);
void arena_deinit(struct arena *arena);

#endif
