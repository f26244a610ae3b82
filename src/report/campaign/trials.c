// SPDX-License-Identifier: GPL-3.0-or-later
// Reads all trials once: the timeline, the groups by site, and a few sample trials per verdict.
#include "report/campaign/trials.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A page lists no more sites than this. All others share one group.
#define MOST_SITES 2000

struct site_group {
    const char *file, *module, *function; // from the candidates: equal text, equal pointer
    unsigned line;
    size_t group; // index + 1
};
struct trial_pass {
    const struct campaign_candidates *candidates;
    struct campaign_trials *trials;
    ARRAY(struct site_group) sites;
    struct map by_hash; // sites
    size_t others;      // index + 1 of the group for sites that did not fit
    uint64_t taken[VERDICTS];
};

static void pass_deinit(struct trial_pass *pass)
{
    ARRAY_DEINIT(&pass->sites);
    map_deinit(&pass->by_hash);
}

static void halve_timeline(struct campaign_trials *trials)
{
    for (size_t i = 0; i < CAMPAIGN_TIMELINE; i++)
        for (int j = 0; j < VERDICTS; j++) {
            uint64_t sum = 0;
            if (2 * i + 1 < CAMPAIGN_TIMELINE)
                sum = trials->timeline[2 * i].verdicts[j] + trials->timeline[2 * i + 1].verdicts[j];
            trials->timeline[i].verdicts[j] = sum;
        }
    trials->width_s *= 2;
    trials->columns = (trials->columns + 1) / 2;
}

static void add_to_timeline(struct campaign_trials *trials, double started_s, enum verdict verdict)
{
    // A clock that was set back, or a damaged store, must not make this loop for long.
    if (!(started_s >= 0))
        started_s = 0;
    if (started_s > 1e12)
        started_s = 1e12;
    while (started_s / trials->width_s >= CAMPAIGN_TIMELINE)
        halve_timeline(trials);
    size_t column = (size_t)(started_s / trials->width_s);
    trials->timeline[column].verdicts[verdict]++;
    if (column >= trials->columns)
        trials->columns = column + 1;
}

static struct error *new_group(struct trial_pass *pass, const char *name, size_t *ret_group)
{
    struct campaign_group *group = ARRAY_ADD(&pass->trials->sites.groups);
    if (group == NULL)
        return error_no_memory();
    group->name = strdup(name);
    *ret_group = pass->trials->sites.groups.count;
    return group->name == NULL ? error_no_memory() : NULL;
}

static struct error *name_site(struct trial_pass *pass, struct site_group *site)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    if (site->file != NULL && site->line != 0)
        TRY(buffer_printf(&name, "%s:%u", site->file, site->line));
    else if (site->file != NULL || site->module != NULL)
        TRY(buffer_printf(&name, "%s", site->file != NULL ? site->file : site->module));
    else
        TRY(buffer_printf(&name, "(not known)"));
    if (site->function != NULL)
        TRY(buffer_printf(&name, " calling %s", site->function));
    return new_group(pass, name.data, &site->group);
}

struct sought {
    const struct trial_pass *pass;
    struct site_group site;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    const struct site_group *a = &sought->pass->sites.items[index], *b = &sought->site;
    return a->file == b->file && a->function == b->function && a->module == b->module &&
           a->line == b->line;
}

static uint64_t hash_site(const struct site_group *site)
{
    uint64_t hash = hash_mix((uintptr_t)site->file, (uintptr_t)site->function);
    return hash_mix(hash_mix(hash, (uintptr_t)site->module), site->line);
}

// Finds the group of a candidate's site, counted from 1.
static struct error *group_of(struct trial_pass *pass, const struct campaign_candidate *candidate,
                              size_t *ret_group)
{
    static const struct campaign_candidate unknown;
    if (candidate == NULL)
        candidate = &unknown;
    const struct sought sought = {
        pass,
        {.file = candidate->file,
         .module = candidate->file == NULL ? candidate->module : NULL,
         .function = candidate->function,
         .line = candidate->line},
    };
    uint64_t hash = hash_site(&sought.site);
    uint32_t found = map_find_equal(&pass->by_hash, hash, is_equal, &sought);
    if (found != MAP_NONE) {
        *ret_group = pass->sites.items[found].group;
        return NULL;
    }
    if (pass->trials->sites.groups.count >= MOST_SITES) {
        if (pass->others == 0)
            TRY(new_group(pass, "(all other sites)", &pass->others));
        *ret_group = pass->others;
        return NULL;
    }
    struct site_group *site = ARRAY_ADD(&pass->sites);
    if (site == NULL)
        return error_no_memory();
    *site = sought.site;
    TRY(name_site(pass, site));
    TRY(map_put(&pass->by_hash, hash, (uint32_t)(pass->sites.count - 1)));
    *ret_group = site->group;
    return NULL;
}

static struct error *add_sample(struct trial_pass *pass, const struct store_trial *row,
                                enum verdict verdict)
{
    if (pass->taken[verdict]++ >= CAMPAIGN_SAMPLES)
        return NULL;
    struct campaign_trial *sample = ARRAY_ADD(&pass->trials->samples);
    if (sample == NULL)
        return error_no_memory();
    sample->id = row->id;
    sample->finding = row->finding;
    sample->number = row->number;
    sample->verdict = verdict;
    sample->seconds = row->seconds;
    sample->spec = strdup(row->spec != NULL ? row->spec : "");
    sample->reason = strdup(row->reason != NULL ? row->reason : "");
    return sample->spec == NULL || sample->reason == NULL ? error_no_memory() : NULL;
}

static struct error *add_trial(void *data, const struct store_trial *row)
{
    struct trial_pass *pass = data;
    enum verdict verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID;
    add_to_timeline(pass->trials, row->started_s, verdict);
    if (verdict_facts[verdict].counts)
        stats_add(&pass->trials->seconds, row->seconds);
    size_t group = 0;
    TRY(group_of(pass, campaign_candidate_find(pass->candidates, row->candidate), &group));
    pass->trials->sites.groups.items[group - 1].counts.verdicts[verdict]++;
    return add_sample(pass, row, verdict);
}

static int by_severity(const void *left, const void *right)
{
    const struct campaign_trial *a = left, *b = right;
    if (a->verdict != b->verdict)
        return a->verdict < b->verdict ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

struct error *campaign_trials_load(const struct campaign_facts *facts,
                                   const struct campaign_candidates *candidates,
                                   struct campaign_trials *ret_trials)
{
    _cleanup_(pass_deinit) struct trial_pass pass = {.candidates = candidates,
                                                     .trials = ret_trials};
    *ret_trials = (struct campaign_trials){.width_s = 1e-3, .sites = {.by = "site"}};
    TRY(store_each_trial(facts->store, facts->campaign.id, false, add_trial, &pass));
    if (ret_trials->samples.count != 0)
        qsort(ret_trials->samples.items, ret_trials->samples.count,
              sizeof *ret_trials->samples.items, by_severity);
    return campaign_grouping_judge(facts, &ret_trials->sites);
}

void campaign_trials_deinit(struct campaign_trials *trials)
{
    for (size_t i = 0; i < trials->samples.count; i++) {
        free(trials->samples.items[i].spec);
        free(trials->samples.items[i].reason);
    }
    ARRAY_DEINIT(&trials->samples);
    campaign_grouping_deinit(&trials->sites);
}
