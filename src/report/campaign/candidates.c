// SPDX-License-Identifier: GPL-3.0-or-later
// Loads the candidates of a campaign into memory, so that each trial can be joined with its
// candidate. Equal strings are kept once.
#include "report/campaign/trials.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct sought {
    const struct campaign_strings *strings;
    const char *text;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    return strcmp(sought->strings->list.items[index], sought->text) == 0;
}

static struct error *intern(struct campaign_strings *strings, const char *text,
                            const char **ret_text)
{
    *ret_text = NULL;
    if (text == NULL || *text == '\0')
        return NULL;
    uint64_t hash = hash_text(text);
    const struct sought sought = {strings, text};
    uint32_t found = map_find_equal(&strings->by_hash, hash, is_equal, &sought);
    if (found == MAP_NONE) {
        const char *copy = arena_copy(&strings->arena, text, strlen(text));
        const char **slot = copy != NULL ? ARRAY_ADD(&strings->list) : NULL;
        if (slot == NULL)
            return error_no_memory();
        *slot = copy;
        found = (uint32_t)(strings->list.count - 1);
        TRY(map_put(&strings->by_hash, hash, found));
    }
    *ret_text = strings->list.items[found];
    return NULL;
}

static struct error *add_candidate(void *data, const struct store_candidate *row)
{
    struct campaign_candidates *candidates = data;
    struct campaign_candidate *own = ARRAY_ADD(&candidates->rows);
    if (own == NULL)
        return error_no_memory();
    own->id = row->id;
    own->number = row->number;
    own->line = row->line;
    own->selected = row->selected;
    own->weight = row->weight;
    TRY(intern(&candidates->strings, row->type, &own->type));
    TRY(intern(&candidates->strings, row->function, &own->function));
    TRY(intern(&candidates->strings, row->module, &own->module));
    TRY(intern(&candidates->strings, row->file, &own->file));
    return intern(&candidates->strings, row->component, &own->component);
}

static int by_id(const void *left, const void *right)
{
    const struct campaign_candidate *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

struct error *campaign_candidates_load(struct store *store, int64_t campaign,
                                       struct campaign_candidates *ret_candidates)
{
    struct campaign_candidates candidates = {0};
    struct error *error = store_each_candidate(store, campaign, 0, 0, add_candidate, &candidates);
    if (error != NULL) {
        campaign_candidates_deinit(&candidates);
        return error;
    }
    if (candidates.rows.count != 0)
        qsort(candidates.rows.items, candidates.rows.count, sizeof *candidates.rows.items, by_id);
    *ret_candidates = candidates;
    return NULL;
}

void campaign_candidates_deinit(struct campaign_candidates *candidates)
{
    arena_deinit(&candidates->strings.arena);
    ARRAY_DEINIT(&candidates->strings.list);
    map_deinit(&candidates->strings.by_hash);
    ARRAY_DEINIT(&candidates->rows);
}

const struct campaign_candidate *
campaign_candidate_find(const struct campaign_candidates *candidates, int64_t id)
{
    const struct campaign_candidate key = {.id = id};
    return candidates->rows.count == 0
               ? NULL
               : bsearch(&key, candidates->rows.items, candidates->rows.count, sizeof key, by_id);
}
