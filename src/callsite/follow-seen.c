// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers the states in which paths entered blocks, so that each state is followed once, and
// similar states only a few times.
#include "callsite/follow-internal.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

#define MOST_SIMILAR 3

static uint64_t hash_path(const struct follow_path *path)
{
    const struct machine *machine = &path->machine;
    uint64_t hash = hash_mix(path->alive, (uint64_t)path->block << 32 | path->at), words[4];
    memcpy(words, machine->registers, sizeof words);
    for (unsigned i = 0; i < 4; i++)
        hash = hash_mix(hash, words[i]);
    hash = hash_mix(hash, path->told_apart ^ (path->used ? 1ull << 63 : 0) ^
                              (path->errno_fresh ? 1ull << 62 : 0) ^
                              (path->errno_checked ? 1ull << 61 : 0));
    hash =
        hash_mix(hash, (uint64_t)machine->flags.kind << 40 | (uint64_t)machine->flags.width << 32 |
                           (uint64_t)machine->flags.left << 16 | machine->flags.right);
    for (unsigned i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        hash = hash_mix(hash, cell->base << 20 ^ (uint64_t)cell->offset);
        hash = hash_mix(hash, (uint64_t)cell->content << 8 | cell->width);
    }
    return hash;
}

struct error *follow_is_new(struct follower *follower, const struct follow_path *path,
                            bool *ret_new)
{
    return map_add(&follower->seen, hash_path(path), ret_new);
}

// Hashes only where the result is. A few states that agree in that are enough, however much the
// rest differs.
static uint64_t hash_result(const struct follower *follower, const struct follow_path *path)
{
    const struct machine *machine = &path->machine;
    uint64_t hash =
        hash_mix(path->alive ^ path->told_apart << 8, (uint64_t)path->block << 32 | path->at);
    hash = hash_mix(hash, (path->errno_checked ? 4 : 0) | (path->used ? 2 : 0) |
                              (path->errno_fresh ? 1 : 0));
    for (unsigned i = 0; i < ISA_REGISTERS; i++)
        if (content_derived(&follower->contents, machine->registers[i]))
            hash = hash_mix(hash, (uint64_t)machine->registers[i] << 8 | i);
    for (unsigned i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        if (content_derived(&follower->contents, cell->content))
            hash = hash_mix(hash, (uint64_t)cell->offset << 16 ^ cell->content);
    }
    return hash;
}

struct error *follow_is_enough(struct follower *follower, const struct follow_path *path,
                               bool *ret_enough)
{
    uint64_t hash = hash_result(follower, path);
    bool new = false;
    for (unsigned i = 0; i < MOST_SIMILAR && !new; i++)
        TRY(map_add(&follower->similar, hash + i, &new));
    *ret_enough = !new;
    return NULL;
}
