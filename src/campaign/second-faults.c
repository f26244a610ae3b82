// SPDX-License-Identifier: GPL-3.0-or-later
// Finds second faults. The controller itself runs the shots, as it runs references, because its
// injector compares the calls of both.
#include "campaign/second-faults.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/secrets.h"
#include "campaign/schedule.h"

#include <stdlib.h>
#include <string.h>

#define FOLLOWED_MOST 400 // survived trials that are run again

struct survivor {
    char *spec;
    uint64_t seed;
};

struct survivors {
    ARRAY(struct survivor) items;
    struct map places;    // of the items
    enum verdict verdict; // to look for
    const struct injector_second_faults *ability;
    const struct definition *definition;
};

static void survivors_deinit(struct survivors *survivors)
{
    for (size_t i = 0; i < survivors->items.count; i++)
        free(survivors->items.items[i].spec);
    ARRAY_DEINIT(&survivors->items);
    map_deinit(&survivors->places);
}

static struct error *add_survivor(struct survivors *survivors, enum verdict verdict,
                                  const char *spec, uint64_t seed)
{
    if (verdict != survivors->verdict || spec == NULL || survivors->items.count == FOLLOWED_MOST)
        return NULL;
    bool new;
    TRY(map_add(&survivors->places, survivors->ability->place(spec), &new));
    if (!new)
        return NULL;
    struct survivor *added = ARRAY_ADD(&survivors->items);
    if (added == NULL)
        return error_no_memory();
    added->seed = seed;
    added->spec = strdup(spec);
    return added->spec != NULL ? secrets_restore(&added->spec) : error_no_memory();
}

static struct error *note_trial(void *data, const struct store_trial *row)
{
    return add_survivor(data, row->verdict, row->spec, row->seed);
}

// A fault whose verdict was carried over has no trial here. What can fail while it is handled is
// tried all the same: second faults are not carried over.
static struct error *note_carried(void *data, const struct store_candidate *row)
{
    struct survivors *survivors = data;
    if (row->carried == NULL)
        return NULL;
    const struct definition *definition = survivors->definition;
    uint64_t first = (row->number - 1) * definition->selection.repeat + 1;
    return add_survivor(survivors, verdict_named(row->carried, strlen(row->carried)), row->spec,
                        trial_seed(definition->seed, first));
}

static struct error *note_survivors(const struct second_faults *second, struct survivors *survivors,
                                    enum verdict verdict)
{
    survivors->verdict = verdict;
    TRY(store_each_trial(second->store, second->campaign->id, false, note_trial, survivors));
    return store_each_candidate(second->store, second->campaign->id, 0, 0, note_carried, survivors);
}

static bool interrupted(const struct second_faults *second)
{
    return second->control->interrupts != NULL && *second->control->interrupts > 0;
}

static void tell(const struct second_faults *second, uint64_t done, uint64_t planned)
{
    const struct campaign_progress progress = {
        .phase = "handling", .done = done, .planned = planned, .left_s = -1};
    if (second->control->progress != NULL)
        second->control->progress(second->control->data, &progress);
}

// The store has the results of reference runs, but not their calls. A resumed campaign runs up to
// two of them again.
static struct error *record_references(const struct second_faults *second)
{
    uint32_t count = second->definition->oracle.references;
    for (uint32_t i = 0; i < count && i < 2 && !second->recorded && !interrupted(second); i++) {
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        TRY(shooting_run(second->shooting, NULL, trial_seed(second->definition->seed, i + 1),
                         reference_timeout_ns(second->reference), &run));
    }
    return NULL;
}

static struct error *follow_all(const struct second_faults *second,
                                const struct survivors *survivors)
{
    uint64_t start_ns = clock_ns();
    for (size_t i = 0; i < survivors->items.count && !interrupted(second); i++) {
        const struct survivor *survivor = &survivors->items.items[i];
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        if (second->budget_ns != 0 && clock_ns() - start_ns >= second->budget_ns)
            return NULL;
        tell(second, i, survivors->items.count);
        TRY(shooting_follow(second->shooting, survivor->spec, survivor->seed,
                            reference_timeout_ns(second->reference), &run));
    }
    return NULL;
}

static struct error *store_one(void *data, struct candidate *candidate)
{
    const struct second_faults *second = data;
    struct store_campaign *campaign = second->campaign;
    struct store_candidate row =
        candidate_row(candidate, campaign->id, campaign->candidates + 1, true);
    struct error *error = store_add_candidate(second->store, &row);
    candidate_deinit(candidate);
    if (error != NULL)
        return error;
    campaign->candidates++;
    campaign->planned += second->definition->selection.repeat;
    return NULL;
}

static struct error *store_all(const struct second_faults *second)
{
    TRY(second->injector->second_faults->candidates(shooting_injector(second->shooting), store_one,
                                                    (void *)second));
    return store_update_campaign(second->store, second->campaign);
}

struct error *second_faults_add(const struct second_faults *second)
{
    _cleanup_(survivors_deinit) struct survivors survivors = {
        .ability = second->injector->second_faults, .definition = second->definition};
    // Graceful trials first: a failure that was reported was handled. One that went unnoticed may
    // have been.
    TRY(note_survivors(second, &survivors, VERDICT_GRACEFUL));
    TRY(note_survivors(second, &survivors, VERDICT_PASS));
    if (survivors.items.count == 0)
        return NULL;
    TRY(record_references(second));
    TRY(follow_all(second, &survivors));
    if (interrupted(second))
        return NULL;
    TRY(store_begin(second->store));
    struct error *error = store_all(second);
    if (error == NULL)
        error = store_commit(second->store);
    if (error != NULL)
        store_rollback(second->store);
    return error;
}

static struct error *note_candidate(void *data, const struct store_candidate *row)
{
    if (row->series != NULL && strcmp(row->series, CANDIDATE_SECOND) == 0)
        *(bool *)data = false;
    return NULL;
}

struct error *second_faults_due(const struct injector *injector, void *self, struct store *store,
                                int64_t campaign, bool *ret_due)
{
    *ret_due = injector->second_faults != NULL && injector->second_faults->wanted(self);
    if (!*ret_due)
        return NULL;
    return store_each_candidate(store, campaign, 0, 0, note_candidate, ret_due);
}
