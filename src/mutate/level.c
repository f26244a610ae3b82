// SPDX-License-Identifier: GPL-3.0-or-later
// Names candidates. Levels are compared by type and place; so these are the name, and never a
// running number, which one omission would shift.
#include "mutate/level.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *mutate_state_word(enum mutate_state state)
{
    static const char *const words[MUTATE_STATES] = {"applicable", "no-text",    "no-room",
                                                     "broken",     "equivalent", "duplicate"};
    return words[state];
}

static const char *print_place(struct arena *arena, const struct mutate_candidate *candidate,
                               unsigned count)
{
    _cleanup_free_ char *text = NULL;
    const char *field = model_types[candidate->kind].field;
    char more[16] = "";
    if (count > 1)
        snprintf(more, sizeof more, "#%u", count);
    int size = candidate->address != 0
                   ? asprintf(&text, "%s@0x%" PRIx64 "%s", field, candidate->address, more)
                   : asprintf(&text, "%s@%s:%u:%u%s", field, candidate->file, candidate->line,
                              candidate->column, more);
    if (size < 0)
        return text = NULL, NULL;
    return arena_copy(arena, text, (size_t)size);
}

// Several candidates of one type at one place get numbers there.
static struct error *name_candidates(struct mutate_set *set)
{
    _cleanup_(map_deinit) struct map places = {0};
    _cleanup_free_ unsigned *counts = calloc(set->items.count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < set->items.count; i++) {
        struct mutate_candidate *candidate = &set->items.items[i];
        uint64_t key = hash_mix(hash_text(candidate->file), candidate->address);
        key = hash_mix(key, (uint64_t)candidate->line << 32 | candidate->column);
        key = hash_mix(key, candidate->kind);
        uint32_t slot = map_find(&places, key);
        if (slot == MAP_NONE)
            TRY(map_put(&places, key, slot = (uint32_t)i));
        candidate->id = print_place(&set->arena, candidate, ++counts[slot]);
        if (candidate->id == NULL)
            return error_no_memory();
        candidate->constraints = model_types[candidate->kind].constraints;
    }
    return NULL;
}

struct error *mutate_find(const struct mutate_level *level, const struct mutate_request *request,
                          struct mutate_set *ret_set)
{
    _cleanup_(mutate_set_deinit) struct mutate_set set = {.level = level};
    TRY(level->find(request, &set));
    TRY(name_candidates(&set));
    *ret_set = set;
    set = (struct mutate_set){0};
    return NULL;
}

void mutate_set_deinit(struct mutate_set *set)
{
    if (set->level != NULL && set->own != NULL)
        set->level->free(set->own);
    ARRAY_DEINIT(&set->items);
    ARRAY_DEINIT(&set->constructs);
    arena_deinit(&set->arena);
    *set = (struct mutate_set){0};
}
