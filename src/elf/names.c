// SPDX-License-Identifier: GPL-3.0-or-later
// See names.h.
#include "elf/names.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *text, size_t size)
{
    uint64_t hash = hash_bytes(text, size);
    return (uint32_t)(hash ^ hash >> 32);
}

void elf_names_deinit(struct elf_names *names)
{
    ARRAY_DEINIT(&names->entries);
    free(names->buckets);
    *names = (struct elf_names){0};
}

static struct error *grow(struct elf_names *names)
{
    size_t count = names->bucket_count != 0 ? names->bucket_count * 4 : 64;
    uint32_t *buckets = calloc(count, sizeof *buckets);
    if (buckets == NULL)
        return error_no_memory();
    free(names->buckets);
    names->buckets = buckets;
    names->bucket_count = count;
    for (size_t i = 0; i < names->entries.count; i++) {
        struct elf_name *entry = &names->entries.items[i];
        entry->next = buckets[entry->hash & (count - 1)];
        buckets[entry->hash & (count - 1)] = (uint32_t)i + 1;
    }
    return NULL;
}

struct error *elf_names_add(struct elf_names *names, const char *text, size_t size, uint32_t number)
{
    if (names->entries.count >= names->bucket_count)
        TRY(grow(names));
    uint32_t hash = hash_text(text, size);
    uint32_t *bucket = &names->buckets[hash & (names->bucket_count - 1)];
    struct elf_name *entry = ARRAY_ADD(&names->entries);
    if (entry == NULL)
        return error_no_memory();
    *entry = (struct elf_name){text, size, hash, number, *bucket};
    *bucket = (uint32_t)names->entries.count;
    return NULL;
}

const struct elf_name *elf_names_next(const struct elf_names *names, const struct elf_name *last,
                                      const char *text, size_t size)
{
    if (names->bucket_count == 0)
        return NULL;
    uint32_t hash = last != NULL ? last->hash : hash_text(text, size);
    uint32_t at = last != NULL ? last->next : names->buckets[hash & (names->bucket_count - 1)];
    for (; at != 0; at = names->entries.items[at - 1].next) {
        const struct elf_name *entry = &names->entries.items[at - 1];
        if (entry->hash == hash && entry->size == size && memcmp(entry->text, text, size) == 0)
            return entry;
    }
    return NULL;
}
