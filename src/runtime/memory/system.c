// SPDX-License-Identifier: GPL-3.0-or-later
// System calls, string functions and memory that the runtime uses instead of a C library, and
// careful reads and writes of the target's memory.
#include "runtime/system.h"

#include "runtime/memory.h"
#include "runtime/runtime.h"

#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>

void *memcpy(void *restrict target, const void *restrict source, size_t size)
{
    void *result = target;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
    return result;
}

void *memset(void *target, int value, size_t size)
{
    void *result = target;
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(size) : "a"(value) : "memory");
    return result;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (; size != 0; size--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

size_t text_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

bool text_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

bool text_starts(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

void text_copy(char *target, size_t room, const char *source)
{
    size_t i = 0;
    for (; i + 1 < room && source[i] != '\0'; i++)
        target[i] = source[i];
    target[i] = '\0';
}

const char *text_base(const char *path)
{
    const char *base = path;
    for (; *path != '\0'; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

char *text_put_number(char *text, unsigned number)
{
    char digits[12];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *text++ = digits[--count];
    *text = '\0';
    return text;
}

bool text_number(const char *text, int *ret_number)
{
    int number = 0;
    if (*text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    *ret_number = number;
    return *text == '\0';
}

// One [set] against one character; *pattern stands after '[' and ends after ']'.
static bool glob_set(const char **pattern, char c)
{
    const char *p = *pattern;
    bool inverted = *p == '!' || *p == '^';
    bool found = false;
    if (inverted)
        p++;
    for (bool first = true; *p != '\0' && (first || *p != ']'); first = false) {
        char low = *p++, high = low;
        if (p[0] == '-' && p[1] != '\0' && p[1] != ']') {
            high = p[1];
            p += 2;
        }
        found |= low <= c && c <= high;
    }
    if (*p == ']')
        p++;
    *pattern = p;
    return found != inverted;
}

static bool glob_one(const char **pattern, char c)
{
    char p = *(*pattern)++;
    if (p == '?')
        return true;
    if (p == '[')
        return glob_set(pattern, c);
    if (p == '\\' && **pattern != '\0')
        p = *(*pattern)++;
    return p == c;
}

bool text_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *mark = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            mark = text;
            continue;
        }
        if (*text == '\0')
            return *pattern == '\0';
        const char *next = pattern;
        if (*pattern != '\0' && glob_one(&next, *text)) {
            pattern = next;
            text++;
            continue;
        }
        if (star == NULL)
            return false;
        pattern = star;
        text = ++mark;
    }
}

// Asks the kernel with an impossible `how`: it copies the set before it looks at `how`, so a bad
// pointer gives EFAULT and a good one EINVAL. This is the cheapest system call for that. Another
// thread may still unmap the page between the question and the read; that fault is caught.
static bool is_readable(const void *address)
{
    const long bad_pointer = -14;
    char byte;
    if (runtime.filtered)
        return guarded_copy(&byte, address, 1);
    return SYSTEM_4(__NR_rt_sigprocmask, -1, (uintptr_t)address & ~7ul, 0, 8) != bad_pointer;
}

bool system_can_read(const void *address, size_t size)
{
    char byte;
    uintptr_t first = (uintptr_t)address, last = first + size - 1;
    const uintptr_t lowest = 65536, end = 1ull << 47; // never mapped below, not canonical above
    if (first < lowest || last >= end || last < first)
        return false;
    for (uintptr_t page = first & ~4095ul; page <= last; page += 4096) {
        const void *at = (const void *)(page > first ? page : first);
        if (system_peek_by_copy && !runtime.filtered ? !system_peek(at, &byte, 1)
                                                     : !is_readable(at))
            return false;
    }
    return true;
}

// The kernel's copy between processes, used on ourselves.
static long transfer(long number, void *own, void *other, size_t size)
{
    struct {
        void *base;
        size_t size;
    } local = {own, size}, remote = {other, size};
    return SYSTEM_6(number, system_pid(), &local, 1, &remote, 1, 0);
}

uint64_t *system_mark;

bool system_copies(void)
{
    char from = 1, to = 0;
    return transfer(__NR_process_vm_readv, &to, &from, 1) == 1;
}

bool system_peek_by_copy;

bool system_peek(const void *address, void *target, size_t size)
{
    if (system_peek_by_copy && !runtime.filtered)
        return transfer(__NR_process_vm_readv, target, (void *)address, size) == (long)size;
    return system_can_read(address, size) && guarded_copy(target, address, size);
}

// For writing there is no such question. If a sandbox forbids the copy, a pointer that can be read
// is trusted.
bool system_poke(void *address, const void *source, size_t size)
{
    const long not_permitted = -1, no_such_call = -38;
    if (runtime.filtered)
        return guarded_copy(address, source, size);
    long result = transfer(__NR_process_vm_writev, (void *)source, address, size);
    if ((result == not_permitted || result == no_such_call) && system_can_read(address, size)) {
        memcpy(address, source, size);
        return true;
    }
    return result == (long)size;
}

bool system_peek_text(const char *address, char *target, size_t room)
{
    size_t done = 0;
    while (done + 1 < room) {
        const char *at = address + done;
        if ((done == 0 || ((uintptr_t)at & 4095) == 0) && !system_can_read(at, 1))
            break;
        target[done] = *at;
        if (*at == '\0')
            return true;
        done++;
    }
    target[done] = '\0';
    return done != 0;
}

uint32_t system_pid(void)
{
    return (uint32_t)SYSTEM_1(__NR_getpid, 0);
}

uint32_t system_parent(void)
{
    return (uint32_t)SYSTEM_1(__NR_getppid, 0);
}

uint32_t system_tid(void)
{
    return (uint32_t)SYSTEM_1(__NR_gettid, 0);
}

bool system_wait(uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    struct {
        long seconds, nanoseconds;
    } timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    const long timed_out = -110;
    return SYSTEM_6(__NR_futex, word, FUTEX_WAIT, value, &timeout, 0, 0) != timed_out;
}

void system_wake(uint32_t *word)
{
    SYSTEM_6(__NR_futex, word, FUTEX_WAKE, 0x7fffffff, 0, 0, 0);
}

void *system_map(long file, bool writable, uint64_t size)
{
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    long memory = SYSTEM_6(__NR_mmap, 0, size, protection, MAP_SHARED, file, 0);
    return system_failed(memory) ? NULL : (void *)memory;
}

const void *system_map_file(const char *path, uint64_t *ret_size)
{
    long file = SYSTEM_3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (system_failed(file))
        return NULL;
    const int from_end = 2;
    long size = SYSTEM_3(__NR_lseek, file, 0, from_end);
    const void *map = system_failed(size) ? NULL : system_map(file, false, (uint64_t)size);
    *ret_size = (uint64_t)size;
    SYSTEM_1(__NR_close, file);
    return map;
}

// Memory is given out from the end downwards. `left` may go below zero: then the caller makes
// another chunk.
struct chunk {
    int64_t left;
    char *memory;
};
#define CHUNK_SIZE  (256 * 1024l)
#define CHUNK_FIRST (64 * 1024)

static char first_chunk[CHUNK_FIRST] __attribute__((aligned(16))); // ends where the slots begin
static struct chunk first = {CHUNK_FIRST, first_chunk}, *chunk = &first;

static bool add_chunk(struct chunk *now)
{
    const int64_t head = (sizeof(struct chunk) + 15) & ~15ul;
    struct chunk *fresh = own_map(CHUNK_SIZE);
    if (fresh == NULL)
        return false;
    *fresh = (struct chunk){CHUNK_SIZE - head, (char *)fresh + head};
    if (!atomic_swap_if(&chunk, now, fresh)) // another thread has made one
        own_unmap(fresh, CHUNK_SIZE);
    return true;
}

void arena_reserve(void)
{
    struct chunk *now = atomic_load(&chunk);
    if (atomic_load(&now->left) < CHUNK_SIZE / 2)
        add_chunk(now);
}

// Takes no lock: a signal handler may interrupt this and call it itself.
void *arena_new(size_t size)
{
    int64_t rounded = (int64_t)((size + 15) & ~(size_t)15);
    for (;;) {
        struct chunk *now = atomic_load(&chunk);
        int64_t left = rounded <= CHUNK_SIZE / 4 ? atomic_add(&now->left, -rounded) : 0;
        if (left >= rounded)
            return now->memory + (left - rounded);
        if (rounded <= CHUNK_SIZE / 4) {
            if (!add_chunk(now))
                return NULL;
            continue;
        }
        return own_map((size_t)rounded);
    }
}
