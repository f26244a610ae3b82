// SPDX-License-Identifier: GPL-3.0-or-later
// The candidates of a campaign in memory, for trials to be joined with.
#include "report/campaign/trials.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct error *strings_grow(struct campaign_strings *strings)
{
    size_t room = strings->room != 0 ? strings->room * 2 : 256;
    char **slots = calloc(room, sizeof *slots);
    if (slots == NULL)
        return error_no_memory();
    for (size_t i = 0; i < strings->room; i++) {
        char *text = strings->slots[i];
        if (text == NULL)
            continue;
        size_t at = hash_bytes(text, strlen(text)) & (room - 1);
        while (slots[at] != NULL)
            at = (at + 1) & (room - 1);
        slots[at] = text;
    }
    free(strings->slots);
    strings->slots = slots;
    strings->room = room;
    return NULL;
}

static struct error *intern(struct campaign_strings *strings, const char *text,
                            const char **ret_text)
{
    *ret_text = NULL;
    if (text == NULL || *text == '\0')
        return NULL;
    if (strings->count * 2 >= strings->room)
        TRY(strings_grow(strings));
    size_t at = hash_bytes(text, strlen(text)) & (strings->room - 1);
    while (strings->slots[at] != NULL && strcmp(strings->slots[at], text) != 0)
        at = (at + 1) & (strings->room - 1);
    if (strings->slots[at] == NULL) {
        strings->slots[at] = strdup(text);
        if (strings->slots[at] == NULL)
            return error_no_memory();
        strings->count++;
    }
    *ret_text = strings->slots[at];
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
    for (size_t i = 0; i < candidates->strings.room; i++)
        free(candidates->strings.slots[i]);
    free(candidates->strings.slots);
    ARRAY_DEINIT(&candidates->rows);
    candidates->strings = (struct campaign_strings){0};
}

const struct campaign_candidate *
campaign_candidate_find(const struct campaign_candidates *candidates, int64_t id)
{
    const struct campaign_candidate key = {.id = id};
    return candidates->rows.count == 0
               ? NULL
               : bsearch(&key, candidates->rows.items, candidates->rows.count, sizeof key, by_id);
}
