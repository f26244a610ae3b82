// SPDX-License-Identifier: GPL-3.0-or-later
// Interns strings: equal ones are kept once.
#include "scenario/texts.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

struct sought {
    const struct strings *strings;
    const char *chars;
    size_t size;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    const struct text *text = &sought->strings->list.items[index];
    return text->size == sought->size && memcmp(text->chars, sought->chars, sought->size) == 0;
}

struct error *strings_intern(struct strings *strings, struct arena *arena, const char *chars,
                             size_t size, struct text *ret_text)
{
    if (size == 0) {
        *ret_text = (struct text){.chars = ""};
        return NULL;
    }
    uint64_t hash = hash_bytes(chars, size);
    const struct sought sought = {strings, chars, size};
    uint32_t found = map_find_equal(&strings->by_hash, hash, is_equal, &sought);
    if (found != MAP_NONE) {
        *ret_text = strings->list.items[found];
        return NULL;
    }
    uint64_t offset = strings->bytes != 0 ? strings->bytes : 1; // offset 0 is the empty string
    if (offset + size + 1 > UINT32_MAX / 2)
        return error_new("the scenario is too large: its texts exceed 2 GiB");
    const char *copy = arena_copy(arena, chars, size);
    struct text *text = copy != NULL ? ARRAY_ADD(&strings->list) : NULL;
    if (text == NULL)
        return error_no_memory();
    *text = (struct text){copy, (uint32_t)size, (uint32_t)offset};
    strings->bytes = offset + size + 1;
    TRY(map_put(&strings->by_hash, hash, (uint32_t)(strings->list.count - 1)));
    *ret_text = *text;
    return NULL;
}

void strings_deinit(struct strings *strings)
{
    ARRAY_DEINIT(&strings->list);
    map_deinit(&strings->by_hash);
}
