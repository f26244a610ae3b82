// SPDX-License-Identifier: GPL-3.0-or-later
// The least a preloaded library can do: count the call and pass it on. What an interceptor is
// compared with.
#include <dlfcn.h>
#include <stddef.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(function)                                                                             \
    (real_##function != NULL ? real_##function : (real_##function = dlsym(RTLD_NEXT, #function)))

static ssize_t (*real_read)(int, void *, size_t);
static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static int (*real_abs)(int);
static unsigned long reads, mallocs, frees, abses;

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    reads++;
    return REAL(read)(fd, buffer, size);
}

EXPORT void *malloc(size_t size)
{
    mallocs++;
    return REAL(malloc)(size);
}

EXPORT void free(void *block)
{
    frees++;
    REAL(free)(block);
}

EXPORT int abs(int i)
{
    abses++;
    return REAL(abs)(i);
}
