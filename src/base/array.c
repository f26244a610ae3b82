// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays that double when they are full, byte buffers, and reading files into buffers.
#include "base/array.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *array_add_many(void **items, size_t *count, size_t *room, size_t item_size, size_t more)
{
    if (*items == NULL || more > *room - *count) {
        size_t wanted = *room < 8 ? 8 : *room;
        while (wanted - *count < more && wanted <= SIZE_MAX / 2)
            wanted *= 2;
        if (wanted - *count < more || wanted > SIZE_MAX / item_size)
            return NULL;
        void *grown = realloc(*items, wanted * item_size);
        if (grown == NULL)
            return NULL;
        *items = grown;
        *room = wanted;
    }
    void *first = (char *)*items + *count * item_size;
    *count += more;
    return first;
}

void *array_add(void **items, size_t *count, size_t *room, size_t item_size)
{
    void *item = array_add_many(items, count, room, item_size, 1);
    return item != NULL ? memset(item, 0, item_size) : NULL;
}

void array_deinit(void **items, size_t *count, size_t *room)
{
    free(*items);
    *items = NULL;
    *count = *room = 0;
}

void buffer_deinit(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

static struct error *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (more >= SIZE_MAX - buffer->size)
        return error_no_memory();
    size_t needed = buffer->size + more + 1;
    if (needed <= buffer->room)
        return NULL;
    size_t wanted = buffer->room < 128 ? 256 : buffer->room * 2;
    if (wanted < needed)
        wanted = needed;
    char *grown = realloc(buffer->data, wanted);
    if (grown == NULL)
        return error_no_memory();
    buffer->data = grown;
    buffer->room = wanted;
    return NULL;
}

struct error *buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    TRY(buffer_reserve(buffer, size));
    if (size != 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
    return NULL;
}

// Does not use vasprintf(): when memory runs short, glibc's may return a size that is larger than
// what it wrote.
struct error *buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = buffer->room - buffer->size;
    int size = vsnprintf(room != 0 ? buffer->data + buffer->size : NULL, room, format, args);
    va_end(args);
    struct error *error = size < 0 ? error_no_memory() : NULL;
    if (error == NULL && (size_t)size >= room) {
        error = buffer_reserve(buffer, (size_t)size);
        if (error == NULL &&
            vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again) != size)
            error = error_no_memory();
    }
    va_end(again);
    if (error == NULL)
        buffer->size += (size_t)size;
    else if (buffer->room != 0)
        buffer->data[buffer->size] = '\0';
    return error;
}

struct error *buffer_align(struct buffer *buffer, size_t alignment)
{
    static const char zeros[64];
    size_t padding = -buffer->size & (alignment - 1);
    while (padding != 0) {
        size_t piece = padding < sizeof zeros ? padding : sizeof zeros;
        TRY(buffer_append(buffer, zeros, piece));
        padding -= piece;
    }
    return NULL;
}

static struct error *read_all(int file, const char *path, size_t limit, struct buffer *ret_buffer)
{
    _cleanup_(buffer_deinit) struct buffer buffer = {0};
    for (;;) {
        TRY(buffer_reserve(&buffer, 1 << 16));
        ssize_t size = read(file, buffer.data + buffer.size, 1 << 16);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return error_from_errno(errno, "cannot read %s", path);
        buffer.size += (size_t)size;
        buffer.data[buffer.size] = '\0';
        if (buffer.size > limit)
            return error_new("%s is larger than %zu bytes", path, limit);
        if (size == 0)
            break;
    }
    *ret_buffer = buffer;
    buffer = (struct buffer){0};
    return NULL;
}

struct error *buffer_read_file(const char *path, size_t limit, struct buffer *ret_buffer)
{
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_from_errno(errno, "cannot read %s", path);
    return read_all(file, path, limit, ret_buffer);
}

static struct error *read_regular(const char *path, size_t limit, bool own,
                                  struct buffer *ret_buffer)
{
    struct stat status;
    // Without O_NONBLOCK, open() would wait for the writer of a FIFO.
    _cleanup_close_ int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (own ? O_NOFOLLOW : 0));
    if (file < 0 || fstat(file, &status) < 0)
        return error_from_errno(errno, "cannot read %s", path);
    if (!S_ISREG(status.st_mode))
        return error_new("cannot read %s: not a regular file", path);
    if (own && status.st_uid != geteuid())
        return error_new("cannot read %s: another user's file", path);
    return read_all(file, path, limit, ret_buffer);
}

struct error *buffer_read_regular(const char *path, size_t limit, struct buffer *ret_buffer)
{
    return read_regular(path, limit, false, ret_buffer);
}

struct error *buffer_read_own(const char *path, size_t limit, struct buffer *ret_buffer)
{
    return read_regular(path, limit, true, ret_buffer);
}
