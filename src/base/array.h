// SPDX-License-Identifier: GPL-3.0-or-later
// Growable arrays and byte buffers. Both start zeroed and are released with their _deinit.
#ifndef ORDEAL_BASE_ARRAY_H
#define ORDEAL_BASE_ARRAY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// ARRAY(struct rule) rules = {0}; … rules.items[i], rules.count
#define ARRAY(type)                                                                                \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }

// A pointer to a new zeroed element at the end, or NULL when memory is short.
#define ARRAY_ADD(array)                                                                           \
    ((__typeof__((array)->items))array_add((void **)&(array)->items, &(array)->count,              \
                                           &(array)->room, sizeof *(array)->items))
// A pointer to `more` new elements at the end, not zeroed. NULL only when memory is short, also if
// `more` is 0.
#define ARRAY_ADD_MANY(array, more)                                                                \
    ((__typeof__((array)->items))array_add_many((void **)&(array)->items, &(array)->count,         \
                                                &(array)->room, sizeof *(array)->items, more))
#define ARRAY_DEINIT(array) array_deinit((void **)&(array)->items, &(array)->count, &(array)->room)

void *array_add(void **items, size_t *count, size_t *room, size_t item_size);
void *array_add_many(void **items, size_t *count, size_t *room, size_t item_size, size_t more);
void array_deinit(void **items, size_t *count, size_t *room);

// Bytes, followed by a NUL that is not counted once something was appended. On failure a buffer
// keeps what it held.
struct buffer {
    char *data;
    size_t size, room;
};

void buffer_deinit(struct buffer *buffer);
_must_check_ struct error *buffer_append(struct buffer *buffer, const void *data, size_t size);
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
buffer_printf(struct buffer *buffer, const char *format, ...);
// Appends zero bytes up to the next multiple of `alignment`, a power of two.
_must_check_ struct error *buffer_align(struct buffer *buffer, size_t alignment);

// Reads a whole file. Fails if it has more than `limit` bytes.
_must_check_ struct error *buffer_read_file(const char *path, size_t limit,
                                            struct buffer *ret_buffer);
// The same for regular files only. Anything else is an error at once, so that a FIFO cannot make it
// wait.
_must_check_ struct error *buffer_read_regular(const char *path, size_t limit,
                                               struct buffer *ret_buffer);
// The same for a file of this user that is no symbolic link.
_must_check_ struct error *buffer_read_own(const char *path, size_t limit,
                                           struct buffer *ret_buffer);

#endif
