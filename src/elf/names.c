// SPDX-License-Identifier: GPL-3.0-or-later
// A hash table of names; entries of the same name are linked.
#include "elf/names.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

struct sought {
    const struct elf_names *names;
    const char *text;
    size_t size;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    const struct elf_name *entry = &sought->names->entries.items[index];
    return entry->size == sought->size && memcmp(entry->text, sought->text, sought->size) == 0;
}

// The first entry of a name.
static uint32_t find(const struct elf_names *names, uint64_t hash, const char *text, size_t size)
{
    const struct sought sought = {names, text, size};
    return map_find_equal(&names->by_text, hash, is_equal, &sought);
}

void elf_names_deinit(struct elf_names *names)
{
    ARRAY_DEINIT(&names->entries);
    map_deinit(&names->by_text);
}

struct error *elf_names_add(struct elf_names *names, const char *text, size_t size, uint32_t number)
{
    uint64_t hash = hash_bytes(text, size);
    uint32_t index = (uint32_t)names->entries.count, first = find(names, hash, text, size);
    struct elf_name *entry = ARRAY_ADD(&names->entries);
    if (entry == NULL)
        return error_no_memory();
    *entry = (struct elf_name){text, size, number, 0};
    if (first == MAP_NONE)
        return map_put(&names->by_text, hash, index);
    entry->next = names->entries.items[first].next;
    names->entries.items[first].next = index;
    return NULL;
}

const struct elf_name *elf_names_next(const struct elf_names *names, const struct elf_name *last,
                                      const char *text, size_t size)
{
    if (last != NULL)
        return last->next != 0 ? &names->entries.items[last->next] : NULL;
    if (names->entries.count == 0)
        return NULL;
    uint32_t first = find(names, hash_bytes(text, size), text, size);
    return first != MAP_NONE ? &names->entries.items[first] : NULL;
}
