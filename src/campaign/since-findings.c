// SPDX-License-Identifier: GPL-3.0-or-later
// Copies findings of an earlier campaign that are carried over, with the trials that show them, so
// that the new store has everything and the next campaign needs no other file.
#include "campaign/since.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <string.h>

struct copying {
    const struct since *since;
    struct store *store;
    int64_t campaign;
    const struct candidate *candidates;
    const int64_t *rows;
};

// The trial and its candidate as they are in the earlier store.
struct earlier_trial {
    struct store_trial trial;
    struct store_candidate candidate;
};

static void earlier_trial_deinit(struct earlier_trial *earlier)
{
    store_trial_deinit(&earlier->trial);
    store_candidate_deinit(&earlier->candidate);
}

struct injection_copying {
    struct store *store;
    int64_t trial;
    const struct store_candidate *before;
    const struct candidate *now;
};

struct consequence_copying {
    struct store *store;
    int64_t finding;
};

static bool is_at(const char *file, unsigned line, const struct store_candidate *candidate)
{
    return file != NULL && candidate->file != NULL && line == candidate->line &&
           strcmp(file, candidate->file) == 0;
}

// The code is the same, but it may be in another line now.
static struct error *copy_injection(void *data, const struct store_injection *row)
{
    struct injection_copying *copying = data;
    struct store_injection copy = *row;
    copy.id = 0;
    copy.trial = copying->trial;
    if (is_at(row->file, row->line, copying->before) && copying->now->file != NULL) {
        copy.file = copying->now->file;
        copy.line = copying->now->line;
    }
    return store_add_injection(copying->store, &copy);
}

// The fault is the same, but a rule may name the call by its address, which differs between builds.
static const char *spec_now(const struct earlier_trial *earlier, const struct candidate *now)
{
    return strcmp(earlier->trial.spec, earlier->candidate.spec) == 0 ? now->spec
                                                                     : earlier->trial.spec;
}

static struct error *copy_trial(const struct copying *copying, const struct since_trial *listed,
                                int64_t finding, int64_t *ret_id)
{
    _cleanup_(earlier_trial_deinit) struct earlier_trial earlier = {0};
    const struct candidate *now = &copying->candidates[listed->candidate];
    TRY(store_find_trial(copying->since->store, listed->id, &earlier.trial, &earlier.candidate));
    struct store_trial copy = earlier.trial;
    copy.id = 0;
    copy.campaign = copying->campaign;
    copy.candidate = copying->rows[listed->candidate];
    copy.number = 0;
    copy.spec = spec_now(&earlier, now);
    copy.started_s = 0;
    copy.plan_hash = 0;
    copy.finding = finding;
    copy.confirmation = copy.carried = true;
    TRY(store_add_trial(copying->store, &copy));
    struct injection_copying injections = {copying->store, copy.id, &earlier.candidate, now};
    *ret_id = copy.id;
    return store_each_injection(copying->since->store, listed->id, copy_injection, &injections);
}

static const struct since_trial *find_trial(const struct since *since, int64_t id)
{
    for (size_t i = 0; i < since->trials.count; i++)
        if (since->trials.items[i].id == id)
            return &since->trials.items[i];
    return NULL;
}

// Adapts the row to where the call is now. Severity, cause and title stay those of the trial.
static struct error *add_row(const struct copying *copying, const struct store_finding *row,
                             const struct since_trial *example, struct store_finding *copy)
{
    _cleanup_(earlier_trial_deinit) struct earlier_trial earlier = {0};
    const struct candidate *now = &copying->candidates[example->candidate];
    TRY(store_find_trial(copying->since->store, example->id, &earlier.trial, &earlier.candidate));
    *copy = *row;
    copy->id = copy->trial = 0;
    copy->campaign = copying->campaign;
    copy->trials = 0;
    for (size_t i = 0; i < copying->since->trials.count; i++)
        copy->trials += copying->since->trials.items[i].finding == row->id &&
                        copying->since->trials.items[i].counted;
    if (is_at(row->file, row->line, &earlier.candidate) && now->file != NULL) {
        copy->file = now->file;
        copy->line = now->line;
    }
    if (strcmp(spec_now(&earlier, now), earlier.trial.spec) != 0)
        copy->command = ""; // it names the call as it was; reports suggest a replay instead
    // The trial of the proof stays behind, and with it the way to repeat it.
    if (row->proof == STORE_PROOF_CAUSED)
        copy->command = "";
    copy->proof_trial = copy->part_of = 0; // which finding stands for it is found out anew
    // What could not be caused there may be here: the library may be another one.
    if (row->proof == STORE_PROOF_IMPOSSIBLE)
        copy->proof = STORE_PROOF_UNPROVEN;
    if (row->carried == NULL) {
        copy->carried = file_base_name(store_path(copying->since->store));
        copy->carried_s = copying->since->created_s;
    }
    return store_add_finding(copying->store, copy);
}

static struct error *copy_consequence(void *data, const struct store_consequence *row)
{
    const struct consequence_copying *copying = data;
    struct store_consequence copy = *row;
    copy.id = 0;
    copy.finding = copying->finding;
    return store_add_consequence(copying->store, &copy);
}

static struct error *copy_finding(void *data, const struct store_finding *row)
{
    const struct copying *copying = data;
    const struct since_trial *example = find_trial(copying->since, row->trial);
    struct store_finding copy;
    if (example == NULL)
        return NULL;
    TRY(add_row(copying, row, example, &copy));
    for (size_t i = 0; i < copying->since->trials.count; i++) {
        const struct since_trial *trial = &copying->since->trials.items[i];
        int64_t id;
        if (trial->finding != row->id)
            continue;
        TRY(copy_trial(copying, trial, copy.id, &id));
        if (trial->id == row->trial)
            copy.trial = id;
    }
    TRY(store_update_finding(copying->store, &copy));
    struct consequence_copying consequences = {copying->store, copy.id};
    return store_each_consequence(copying->since->store, row->id, copy_consequence, &consequences);
}

struct error *since_copy_findings(const struct since *since, struct store *store, int64_t campaign,
                                  const struct candidate *candidates, const int64_t *rows)
{
    struct copying copying = {since, store, campaign, candidates, rows};
    if (since->trials.count == 0)
        return NULL;
    return store_each_finding(since->store, since->campaign, copy_finding, &copying);
}
