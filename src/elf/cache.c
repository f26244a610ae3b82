// SPDX-License-Identifier: GPL-3.0-or-later
// Reads /etc/ld.so.cache: a header, entries sorted by name, and strings. It may begin with a table
// in the old format, which is skipped. Variants for CPU levels are ignored: they export the same
// functions as the plain file.
#include "elf/cache.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define OLD_MAGIC      "ld.so-1.7.0"
#define OLD_HEADER     16 // magic, padding, count
#define OLD_ENTRY      12
#define NEW_MAGIC      "glibc-ld.so.cache1.1"
#define NEW_HEADER     48
#define NEW_ENTRY      24
#define X86_64_LIBRARY 0x0303
#define CACHE_LIMIT    (64u << 20)

struct entry {
    uint32_t flags, name, path;
    uint64_t hwcap;
};

static bool find_new_header(struct elf_cache *cache)
{
    struct cursor cursor = {(const unsigned char *)cache->file.data, cache->file.size, 0, false};
    const void *magic = cursor_bytes(&cursor, sizeof OLD_MAGIC - 1);
    if (magic != NULL && memcmp(magic, OLD_MAGIC, sizeof OLD_MAGIC - 1) == 0) {
        cursor.at = OLD_HEADER - 4;
        uint64_t count = cursor_u32(&cursor);
        cache->start = (OLD_HEADER + count * OLD_ENTRY + 7) & ~(size_t)7;
    }
    if (cursor.failed || cache->start > cache->file.size)
        return false;
    cursor.at = cache->start;
    magic = cursor_bytes(&cursor, sizeof NEW_MAGIC - 1);
    if (magic == NULL || memcmp(magic, NEW_MAGIC, sizeof NEW_MAGIC - 1) != 0)
        return false;
    cache->count = cursor_u32(&cursor);
    uint64_t room = cache->file.size - cache->start;
    return !cursor.failed && room >= NEW_HEADER && cache->count <= (room - NEW_HEADER) / NEW_ENTRY;
}

struct error *elf_cache_load(const char *path, struct elf_cache *ret_cache)
{
    struct elf_cache cache = {0};
    if (access(path, R_OK) == 0) {
        TRY(buffer_read_regular(path, CACHE_LIMIT, &cache.file));
        if (!find_new_header(&cache))
            cache.count = 0;
    }
    *ret_cache = cache;
    return NULL;
}

void elf_cache_deinit(struct elf_cache *cache)
{
    buffer_deinit(&cache->file);
    cache->count = 0;
}

static struct entry read_entry(const struct elf_cache *cache, unsigned index)
{
    struct cursor cursor = {(const unsigned char *)cache->file.data, cache->file.size,
                            cache->start + NEW_HEADER + (size_t)index * NEW_ENTRY, false};
    struct entry entry;
    entry.flags = cursor_u32(&cursor);
    entry.name = cursor_u32(&cursor);
    entry.path = cursor_u32(&cursor);
    cursor_u32(&cursor); // kernel version, no longer used
    entry.hwcap = cursor_u64(&cursor);
    return entry;
}

// The buffer's own NUL ends the last string.
static const char *cache_string(const struct elf_cache *cache, uint32_t offset)
{
    return offset < cache->file.size - cache->start ? cache->file.data + cache->start + offset : "";
}

const char *elf_cache_find(const struct elf_cache *cache, const char *name)
{
    for (unsigned i = 0; i < cache->count; i++) {
        struct entry entry = read_entry(cache, i);
        if (entry.flags == X86_64_LIBRARY && entry.hwcap == 0 &&
            strcmp(cache_string(cache, entry.name), name) == 0)
            return cache_string(cache, entry.path);
    }
    return NULL;
}
