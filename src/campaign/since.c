// SPDX-License-Identifier: GPL-3.0-or-later
// Finds candidates that an earlier campaign tried in code that is the same, by a hash of their
// content, and carries their verdicts over.
#include "campaign/since.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct earlier_candidate {
    int64_t id;
    uint64_t content;
    unsigned char verdict; // + 1; 0: none that counts
    int64_t finding;       // or 0
    bool wanted;           // it is carried over
};
struct earlier_campaign {
    struct store *store;
    const struct suppressions *known; // or NULL
    const char *command;
    int64_t campaign; // or 0
    ARRAY(struct earlier_candidate) items;
    struct map by_id, by_content;
    struct since *since;
};

void since_deinit(struct since *since)
{
    for (size_t i = 0; i < since->findings.count; i++)
        free(since->findings.items[i]);
    ARRAY_DEINIT(&since->findings);
    ARRAY_DEINIT(&since->carried);
    *since = (struct since){0};
}

static void earlier_campaign_deinit(struct earlier_campaign *past)
{
    ARRAY_DEINIT(&past->items);
    map_deinit(&past->by_id);
    map_deinit(&past->by_content);
}

// The campaign that is starting may be in the same file. It has no candidates yet.
static struct error *note_campaign(void *data, const struct store_campaign *row)
{
    struct earlier_campaign *past = data;
    if (row->candidates != 0 && strcmp(row->command, past->command) == 0)
        past->campaign = row->id;
    return NULL;
}

static unsigned char verdict_of(const char *word)
{
    enum verdict verdict = word != NULL ? verdict_named(word, strlen(word)) : VERDICTS;
    return verdict < VERDICTS && verdict_facts[verdict].counts ? (unsigned char)(verdict + 1) : 0;
}

static struct error *note_candidate(void *data, const struct store_candidate *row)
{
    struct earlier_campaign *past = data;
    if (row->content == 0)
        return NULL;
    uint32_t index = (uint32_t)past->items.count;
    struct earlier_candidate *earlier = ARRAY_ADD(&past->items);
    if (earlier == NULL)
        return error_no_memory();
    *earlier = (struct earlier_candidate){
        .id = row->id, .content = row->content, .verdict = verdict_of(row->carried)};
    TRY(map_put(&past->by_id, (uint64_t)row->id, index));
    // Two candidates with the same content cannot be told apart: neither is carried over.
    uint32_t twin = map_find(&past->by_content, row->content);
    if (twin == MAP_NONE)
        return map_put(&past->by_content, row->content, index);
    past->items.items[twin].content = 0;
    return NULL;
}

static struct error *note_trial(void *data, const struct store_trial *row)
{
    struct earlier_campaign *past = data;
    uint32_t index = map_find(&past->by_id, (uint64_t)row->candidate);
    if (index == MAP_NONE || row->verdict >= VERDICTS || !verdict_facts[row->verdict].counts)
        return NULL;
    struct earlier_candidate *earlier = &past->items.items[index];
    // The worst of several trials counts.
    if (earlier->verdict == 0 || row->verdict + 1u < earlier->verdict) {
        earlier->verdict = (unsigned char)(row->verdict + 1);
        earlier->finding = row->finding;
    }
    return NULL;
}

// Suppressed findings are tried again. That shows whether they still exist, and they count as
// suppressed, not as failures.
static struct error *drop_suppressed(void *data, const struct store_finding *row)
{
    struct earlier_campaign *past = data;
    bool suppressed = row->suppressed != NULL;
    if (!suppressed && past->known != NULL)
        TRY(suppressions_match(past->known, past->store, row, &suppressed));
    for (size_t i = 0; suppressed && i < past->items.count; i++)
        if (past->items.items[i].finding == row->id)
            past->items.items[i].verdict = 0;
    return NULL;
}

static struct error *note_finding(void *data, const struct store_finding *row)
{
    struct earlier_campaign *past = data;
    bool wanted = false;
    for (size_t i = 0; i < past->items.count && !wanted; i++)
        wanted = past->items.items[i].wanted && past->items.items[i].finding == row->id;
    if (!wanted)
        return NULL;
    char **title = ARRAY_ADD(&past->since->findings);
    if (title == NULL)
        return error_no_memory();
    *title = strdup(row->title);
    return *title != NULL ? NULL : error_no_memory();
}

static struct error *carry(struct earlier_campaign *past, const struct candidate *candidates,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char *carried = ARRAY_ADD(&past->since->carried);
        if (carried == NULL)
            return error_no_memory();
        uint32_t index = candidates[i].content != 0
                             ? map_find(&past->by_content, candidates[i].content)
                             : MAP_NONE;
        struct earlier_candidate *earlier = index != MAP_NONE ? &past->items.items[index] : NULL;
        bool same = earlier != NULL && earlier->content == candidates[i].content;
        *carried = same ? earlier->verdict : 0;
        if (*carried == 0)
            continue;
        earlier->wanted = true;
        past->since->verdicts[*carried - 1]++;
    }
    return NULL;
}

struct error *since_look(const char *path, const char *command, const struct suppressions *known,
                         const struct candidate *candidates, size_t count, struct since *ret_since)
{
    _cleanup_(store_closep) struct store *store = NULL;
    _cleanup_(since_deinit) struct since since = {0};
    _cleanup_(earlier_campaign_deinit) struct earlier_campaign past = {
        .command = command, .known = known, .since = &since};
    TRY(store_open(path, STORE_READ, &store));
    past.store = store;
    TRY(store_each_campaign(store, note_campaign, &past));
    if (past.campaign == 0)
        return error_new("%s holds no test of this command: %s", path, command);
    TRY(store_each_candidate(store, past.campaign, 0, 0, note_candidate, &past));
    TRY(store_each_trial(store, past.campaign, false, note_trial, &past));
    TRY(store_each_finding(store, past.campaign, drop_suppressed, &past));
    TRY(carry(&past, candidates, count));
    for (size_t i = 0; i < count; i++)
        since.unidentified += candidates[i].content == 0;
    TRY(store_each_finding(store, past.campaign, note_finding, &past));
    *ret_since = since;
    since = (struct since){0};
    return NULL;
}

struct error *since_tell(const struct since *since, const char *path, size_t count,
                         char **ret_sentence)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    uint64_t all = 0;
    const char *separator = "";
    for (int i = 0; i < VERDICTS; i++)
        all += since->verdicts[i];
    *ret_sentence = NULL;
    if (all == 0 && since->unidentified == 0)
        return NULL;
    TRY(buffer_printf(&text,
                      "carried over from %s and not tried again, since the code of the caller is "
                      "the same: %llu of %zu%s",
                      path, (unsigned long long)all, count, all != 0 ? " (" : ""));
    for (int i = 0; i < VERDICTS; i++) {
        if (since->verdicts[i] == 0)
            continue;
        TRY(buffer_printf(&text, "%s%llu %s", separator, (unsigned long long)since->verdicts[i],
                          verdict_facts[i].name));
        separator = ", ";
    }
    if (all != 0)
        TRY(buffer_printf(&text, ")"));
    if (since->unidentified != 0)
        TRY(buffer_printf(&text,
                          "; %llu cannot be known again in another build and %s tried: of the call "
                          "only the number or stack is known, or nothing of the code around it",
                          (unsigned long long)since->unidentified,
                          since->unidentified == 1 ? "is" : "are"));
    *ret_sentence = TAKE(text.data);
    return NULL;
}

static struct error *count_carried(void *data, const struct store_candidate *row)
{
    uint64_t *verdicts = data;
    unsigned char verdict = verdict_of(row->carried);
    if (verdict != 0)
        verdicts[verdict - 1]++;
    return NULL;
}

struct error *since_count(struct store *store, int64_t campaign, uint64_t ret_verdicts[VERDICTS])
{
    memset(ret_verdicts, 0, VERDICTS * sizeof *ret_verdicts);
    return store_each_candidate(store, campaign, 0, 0, count_carried, ret_verdicts);
}
