// SPDX-License-Identifier: GPL-3.0-or-later
// A hash map from 64-bit keys to numbers, mostly indexes of an array that holds the rest. A map
// starts zeroed and ends with map_deinit(). Single keys are never removed.
//
// A key of 64 bits is its own hash: use map_find() and map_put(). For a longer key put its hash,
// and find it with map_find_equal(), which compares the caller's real keys. A set that compares
// hashes only takes two of n keys for one with a probability of about n²/2^65.
#ifndef ORDEAL_BASE_MAP_H
#define ORDEAL_BASE_MAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    uint64_t key;
    uint32_t value; // + 1; 0 = free
};
struct map {
    struct map_entry *entries; // linear probing, at most half full
    size_t count, room;
};
#define MAP_NONE UINT32_MAX // no value

void map_deinit(struct map *map);
// Removes all keys and keeps room for as many. Takes time in proportion to the keys that it has
// now, not to the most it ever had.
void map_clear(struct map *map);
// Makes room for `count` keys in all, so that putting them cannot fail.
_must_check_ struct error *map_reserve(struct map *map, size_t count);

// The value of a key; the one that was put first if there are several. MAP_NONE if there is none.
uint32_t map_find(const struct map *map, uint64_t key);
// The same for a hash: the first value for which `is_equal` says that its key is the one that is
// looked for. `sought` is passed on to `is_equal`.
typedef bool map_is_equal(const void *sought, uint32_t value);
uint32_t map_find_equal(const struct map *map, uint64_t hash, map_is_equal *is_equal,
                        const void *sought);

// Adds a value, which must not be MAP_NONE. A key that is there already gets one more value.
_must_check_ struct error *map_put(struct map *map, uint64_t key, uint32_t value);
// For sets: adds a key unless it is there already. `ret_new` may be NULL.
_must_check_ struct error *map_add(struct map *map, uint64_t key, bool *ret_new);
static inline bool map_has(const struct map *map, uint64_t key)
{
    return map_find(map, key) != MAP_NONE;
}

#endif
