// SPDX-License-Identifier: GPL-3.0-or-later
// An allocator in front of the real one for the whole process, libraries too: while `armed`, the
// allocation number `fail_at` fails, and if `persistent` all that follow; `living` counts what was
// taken and not given back.
#ifndef ORDEAL_TESTS_FAILING_MEMORY_H
#define ORDEAL_TESTS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN
#endif

// The allocator proper.
#ifdef UNDER_ASAN
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
extern void *REAL(malloc)(size_t size);
extern void *REAL(calloc)(size_t count, size_t size);
extern void *REAL(realloc)(void *memory, size_t size);
extern void REAL(free)(void *memory);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);

static bool armed, persistent;
static unsigned long asked, fail_at;
static long living;

static bool fails(void)
{
    return armed && (++asked == fail_at || (persistent && asked > fail_at));
}

void *malloc(size_t size)
{
    if (fails())
        return NULL;
    void *memory = REAL(malloc)(size);
    living += armed && memory != NULL;
    return memory;
}

void *calloc(size_t count, size_t size)
{
    if (fails())
        return NULL;
    void *memory = REAL(calloc)(count, size);
    living += armed && memory != NULL;
    return memory;
}

void *realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    void *moved = REAL(realloc)(memory, size);
    living += armed && memory == NULL && moved != NULL;
    return moved;
}

void free(void *memory)
{
    living -= armed && memory != NULL;
    REAL(free)(memory);
}

#endif
