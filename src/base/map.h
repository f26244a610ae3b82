// SPDX-License-Identifier: GPL-3.0-or-later
// A hash map from 64-bit keys to numbers, mostly indexes of an array that holds the rest. Starts
// zeroed, is released with map_deinit(). Nothing is ever removed.
//
// A key of 64 bits is its own hash: map_find() and map_put(). Of a longer one the hash is put, and
// map_find_equal() compares the real keys, which are the caller's. Where only the hash is looked
// at, as in a set of hashes, two of n keys are taken for one with a probability of about n²/2^65.
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
// Forgets all keys and keeps room for as many. Takes time in proportion to their number, however
// many there were before.
void map_clear(struct map *map);
// Room for `count` keys in all: putting them cannot fail.
_must_check_ struct error *map_reserve(struct map *map, size_t count);

// The value of a key, of several the one that was put first. MAP_NONE if there is none.
uint32_t map_find(const struct map *map, uint64_t key);
// The same among values with the right hash of which `is_equal` says that their key is the one
// that is sought; `sought` is for it alone.
typedef bool map_is_equal(const void *sought, uint32_t value);
uint32_t map_find_equal(const struct map *map, uint64_t hash, map_is_equal *is_equal,
                        const void *sought);

// `value` is not MAP_NONE. A key that is there already gets one more value.
_must_check_ struct error *map_put(struct map *map, uint64_t key, uint32_t value);
// Puts a key that may be there, for sets. `ret_new` may be NULL.
_must_check_ struct error *map_add(struct map *map, uint64_t key, bool *ret_new);
static inline bool map_has(const struct map *map, uint64_t key)
{
    return map_find(map, key) != MAP_NONE;
}

#endif
