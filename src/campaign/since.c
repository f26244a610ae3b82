// SPDX-License-Identifier: GPL-3.0-or-later
// Finds candidates that an earlier campaign tried in code that is the same, by a hash of their
// content, and carries their verdicts over.
#include "campaign/since.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define NO_MATCH SIZE_MAX

struct earlier_candidate {
    int64_t id;
    uint64_t content;      // 0: it cannot be told from another one
    size_t match;          // index of the new candidate with the same content, or NO_MATCH
    unsigned char verdict; // + 1; 0: none that counts, or it is to be tried again
    bool explained;        // a finding with its trial is in the store
};
struct earlier_finding {
    int64_t id, trial; // the trial that shows it best
    uint32_t example;  // the candidate of that trial, or MAP_NONE
    bool dropped;
};
struct shown_finding { // by a trial
    int64_t trial, finding;
    uint32_t candidate;
};
struct earlier_campaign {
    struct store *store;
    const struct suppressions *known; // or NULL
    const char *command;
    int64_t campaign, created_s; // or 0
    ARRAY(struct earlier_candidate) items;
    struct map by_id, by_content;
    ARRAY(struct earlier_finding) findings;
    ARRAY(struct shown_finding) shown;
};

void since_deinit(struct since *since)
{
    ARRAY_DEINIT(&since->carried);
    ARRAY_DEINIT(&since->trials);
    store_close(since->store);
    *since = (struct since){0};
}

static void earlier_campaign_deinit(struct earlier_campaign *past)
{
    ARRAY_DEINIT(&past->items);
    ARRAY_DEINIT(&past->findings);
    ARRAY_DEINIT(&past->shown);
    map_deinit(&past->by_id);
    map_deinit(&past->by_content);
}

// The campaign that is starting may be in the same file. It has no candidates yet.
static struct error *note_campaign(void *data, const struct store_campaign *row)
{
    struct earlier_campaign *past = data;
    if (row->candidates == 0 || strcmp(row->command, past->command) != 0)
        return NULL;
    past->campaign = row->id;
    past->created_s = row->created_s;
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
    *earlier = (struct earlier_candidate){.id = row->id,
                                          .content = row->content,
                                          .match = NO_MATCH,
                                          .verdict = verdict_of(row->carried)};
    TRY(map_put(&past->by_id, (uint64_t)row->id, index));
    // Two candidates with the same content cannot be told apart: neither is carried over.
    uint32_t twin = map_find(&past->by_content, row->content);
    if (twin == MAP_NONE)
        return map_put(&past->by_content, row->content, index);
    earlier->content = 0;
    past->items.items[twin].content = 0;
    return NULL;
}

// Trials that were carried over then count, too; trials that only confirmed a finding do not.
static struct error *note_trial(void *data, const struct store_trial *row)
{
    struct earlier_campaign *past = data;
    uint32_t index = map_find(&past->by_id, (uint64_t)row->candidate);
    if (index == MAP_NONE || row->verdict >= VERDICTS || !verdict_facts[row->verdict].counts ||
        (row->confirmation && !row->carried))
        return NULL;
    struct earlier_candidate *earlier = &past->items.items[index];
    // The worst of several trials counts.
    if (earlier->verdict == 0 || row->verdict + 1u < earlier->verdict)
        earlier->verdict = (unsigned char)(row->verdict + 1);
    if (row->finding == 0)
        return NULL;
    earlier->explained = true;
    struct shown_finding *shown = ARRAY_ADD(&past->shown);
    if (shown == NULL)
        return error_no_memory();
    *shown = (struct shown_finding){.trial = row->id, .finding = row->finding, .candidate = index};
    return NULL;
}

// Suppressed findings are tried again. That shows whether they still exist, and they count as
// suppressed, not as failures.
static struct error *note_finding(void *data, const struct store_finding *row)
{
    struct earlier_campaign *past = data;
    bool suppressed = row->suppressed != NULL;
    if (!suppressed && past->known != NULL)
        TRY(suppressions_match(past->known, past->store, row, &suppressed));
    struct earlier_finding *finding = ARRAY_ADD(&past->findings);
    if (finding == NULL)
        return error_no_memory();
    *finding = (struct earlier_finding){
        .id = row->id, .trial = row->trial, .example = MAP_NONE, .dropped = suppressed};
    return NULL;
}

static struct error *find_example(struct earlier_campaign *past, struct earlier_finding *finding)
{
    struct store_trial trial = {0};
    struct store_candidate candidate = {0};
    if (finding->trial == 0)
        return NULL;
    TRY(store_find_trial(past->store, finding->trial, &trial, &candidate));
    finding->example = map_find(&past->by_id, (uint64_t)trial.candidate);
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    return NULL;
}

static struct error *earlier_campaign_load(struct earlier_campaign *past, const char *path)
{
    TRY(store_each_campaign(past->store, note_campaign, past));
    if (past->campaign == 0)
        return error_new("%s holds no test of this command: %s", path, past->command);
    TRY(store_each_candidate(past->store, past->campaign, 0, 0, note_candidate, past));
    TRY(store_each_trial(past->store, past->campaign, true, note_trial, past));
    TRY(store_each_finding(past->store, past->campaign, note_finding, past));
    for (size_t i = 0; i < past->findings.count; i++)
        TRY(find_example(past, &past->findings.items[i]));
    return NULL;
}

// Of new candidates with the same content, none is carried over either.
static void match(struct earlier_campaign *past, const struct candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t index = candidates[i].content != 0
                             ? map_find(&past->by_content, candidates[i].content)
                             : MAP_NONE;
        if (index == MAP_NONE || past->items.items[index].content == 0)
            continue;
        struct earlier_candidate *earlier = &past->items.items[index];
        if (earlier->match != NO_MATCH)
            earlier->content = 0;
        earlier->match = i;
    }
    for (size_t i = 0; i < past->items.count; i++) {
        struct earlier_candidate *earlier = &past->items.items[i];
        bool found = earlier->verdict != 0 && verdict_facts[earlier->verdict - 1].finding;
        // Files of older versions have verdicts of failures that were carried over, but not what
        // was found.
        if (earlier->content == 0 || earlier->match == NO_MATCH || (found && !earlier->explained))
            earlier->verdict = 0;
    }
}

static bool is_carried(const struct earlier_campaign *past, uint32_t candidate)
{
    return candidate != MAP_NONE && past->items.items[candidate].verdict != 0;
}

static struct earlier_finding *find_finding(struct earlier_campaign *past, int64_t id)
{
    for (size_t i = 0; i < past->findings.count; i++)
        if (past->findings.items[i].id == id)
            return &past->findings.items[i];
    return NULL;
}

// A finding is described by one trial. If that is to be run again, the description may no longer be
// true, so everything that shows the finding is to be tried again. That may be what describes
// another finding.
static void drop_findings(struct earlier_campaign *past)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < past->findings.count; i++)
            past->findings.items[i].dropped |= !is_carried(past, past->findings.items[i].example);
        for (size_t i = 0; i < past->shown.count; i++) {
            const struct shown_finding *shown = &past->shown.items[i];
            struct earlier_finding *finding = find_finding(past, shown->finding);
            if (!is_carried(past, shown->candidate) || (finding != NULL && !finding->dropped))
                continue;
            past->items.items[shown->candidate].verdict = 0;
            changed = true;
        }
    }
}

static struct error *add_trial(struct since *since, const struct earlier_campaign *past,
                               const struct shown_finding *shown, bool counted)
{
    struct since_trial *trial = ARRAY_ADD(&since->trials);
    if (trial == NULL)
        return error_no_memory();
    *trial = (struct since_trial){.id = shown->trial,
                                  .finding = shown->finding,
                                  .candidate = past->items.items[shown->candidate].match,
                                  .counted = counted};
    return NULL;
}

// Lists the trials that show findings which are carried over.
static struct error *list_trials(struct earlier_campaign *past, struct since *since)
{
    for (size_t i = 0; i < past->shown.count; i++)
        if (is_carried(past, past->shown.items[i].candidate))
            TRY(add_trial(since, past, &past->shown.items[i], true));
    for (size_t i = 0; i < past->findings.count; i++) {
        const struct earlier_finding *finding = &past->findings.items[i];
        bool listed = finding->dropped;
        for (size_t j = 0; j < past->shown.count && !listed; j++)
            listed = past->shown.items[j].trial == finding->trial;
        const struct shown_finding shown = {finding->trial, finding->id, finding->example};
        if (!listed)
            TRY(add_trial(since, past, &shown, false));
    }
    return NULL;
}

static struct error *carry(struct earlier_campaign *past, const struct candidate *candidates,
                           size_t count, struct since *since)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char *carried = ARRAY_ADD(&since->carried);
        if (carried == NULL)
            return error_no_memory();
        *carried = 0;
        since->unidentified += candidates[i].content == 0;
    }
    for (size_t i = 0; i < past->items.count; i++) {
        const struct earlier_candidate *earlier = &past->items.items[i];
        if (earlier->verdict == 0)
            continue;
        since->carried.items[earlier->match] = earlier->verdict;
        since->verdicts[earlier->verdict - 1]++;
    }
    return list_trials(past, since);
}

struct error *since_look(const char *path, const char *command, const struct suppressions *known,
                         const struct candidate *candidates, size_t count, struct since *ret_since)
{
    _cleanup_(since_deinit) struct since since = {0};
    TRY(store_open(path, STORE_READ, &since.store));
    _cleanup_(earlier_campaign_deinit) struct earlier_campaign past = {
        .store = since.store, .command = command, .known = known};
    TRY(earlier_campaign_load(&past, path));
    match(&past, candidates, count);
    drop_findings(&past);
    TRY(carry(&past, candidates, count, &since));
    since.campaign = past.campaign;
    since.created_s = past.created_s;
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
                      file_base_name(path), (unsigned long long)all, count, all != 0 ? " (" : ""));
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
                          "; %llu cannot be matched to the earlier build and %s tried: of the call "
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
