// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two campaigns: tests whether the shares of verdicts differ, and pairs findings with the
// same cause.
#include "report/campaign/compare.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static struct error *differ(struct campaign_difference *difference, bool plain,
                            const struct campaign_share *before, const struct campaign_share *after)
{
    difference->before = *before;
    difference->after = *after;
    // The tests assume that all trials have the same weight.
    difference->test = (struct stats_test){.method = STATS_NOTHING, .p = 1};
    if (!plain)
        return NULL;
    const uint64_t rows[2][2] = {{before->hits, before->n - before->hits},
                                 {after->hits, after->n - after->hits}};
    return stats_independence(rows, 2, &difference->test);
}

static int by_cause(const void *left, const void *right)
{
    const struct campaign_finding *a = *(const struct campaign_finding *const *)left;
    const struct campaign_finding *b = *(const struct campaign_finding *const *)right;
    int order = strcmp(a->cause, b->cause);
    return order != 0 ? order : a->verdict < b->verdict ? -1 : a->verdict > b->verdict;
}

static struct error *sorted(const struct campaign_facts *facts,
                            const struct campaign_finding ***ret_findings)
{
    const struct campaign_finding **findings =
        calloc(facts->findings.count + 1, sizeof(const struct campaign_finding *));
    if (findings == NULL)
        return error_no_memory();
    for (size_t i = 0; i < facts->findings.count; i++)
        findings[i] = &facts->findings.items[i];
    qsort(findings, facts->findings.count, sizeof *findings, by_cause);
    *ret_findings = findings;
    return NULL;
}

const struct campaign_finding *campaign_pair_finding(const struct campaign_pair *pair)
{
    return pair->after != NULL ? pair->after : pair->before;
}

static int by_change(const void *left, const void *right)
{
    const struct campaign_pair *a = left, *b = right;
    const struct campaign_finding *x = campaign_pair_finding(a), *y = campaign_pair_finding(b);
    if (a->change != b->change)
        return a->change < b->change ? -1 : 1;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (x->trials != y->trials)
        return x->trials > y->trials ? -1 : 1;
    return strcmp(x->cause, y->cause);
}

// The faults that a campaign knows and has not tried, by the hash of their specs.
struct untried {
    struct map tried, faults;
};

static void untried_deinit(struct untried *untried)
{
    map_deinit(&untried->tried);
    map_deinit(&untried->faults);
}

static struct error *note_trial(void *data, const struct store_trial *row)
{
    struct untried *untried = data;
    return map_add(&untried->tried, (uint64_t)row->candidate, NULL);
}

static uint64_t key_of(const struct store_candidate *candidate)
{
    return candidate->spec != NULL ? hash_text(candidate->spec) : 0;
}

static struct error *note_candidate(void *data, const struct store_candidate *row)
{
    struct untried *untried = data;
    if (row->carried != NULL || map_has(&untried->tried, (uint64_t)row->id))
        return NULL;
    return map_add(&untried->faults, key_of(row), NULL);
}

// Marks the findings of only one campaign whose fault the other campaign has not tried.
static struct error *find_untried(struct campaign_comparison *comparison,
                                  enum campaign_change change)
{
    const struct campaign_facts *own =
        change == CAMPAIGN_NEW ? &comparison->after : &comparison->before;
    const struct campaign_facts *other =
        change == CAMPAIGN_NEW ? &comparison->before : &comparison->after;
    _cleanup_(untried_deinit) struct untried untried = {0};
    if (comparison->changes[change] == 0)
        return NULL;
    TRY(store_each_trial(other->store, other->campaign.id, false, note_trial, &untried));
    TRY(store_each_candidate(other->store, other->campaign.id, 0, 0, note_candidate, &untried));
    for (size_t i = 0; i < comparison->pairs.count && untried.faults.count != 0; i++) {
        struct campaign_pair *pair = &comparison->pairs.items[i];
        if (pair->change != change)
            continue;
        struct store_trial trial;
        struct store_candidate candidate;
        TRY(store_find_trial(own->store, campaign_pair_finding(pair)->trial, &trial, &candidate));
        if (map_has(&untried.faults, key_of(&candidate))) {
            pair->change = CAMPAIGN_UNTRIED;
            comparison->changes[change]--;
            comparison->changes[CAMPAIGN_UNTRIED]++;
        }
        store_trial_deinit(&trial);
        store_candidate_deinit(&candidate);
    }
    return NULL;
}

static struct error *pair_findings(struct campaign_comparison *comparison)
{
    _cleanup_free_ const struct campaign_finding **old = NULL, **new = NULL;
    TRY(sorted(&comparison->before, &old));
    TRY(sorted(&comparison->after, &new));
    for (size_t i = 0, j = 0; old[i] != NULL || new[j] != NULL;) {
        int order = old[i] == NULL ? 1 : new[j] == NULL ? -1 : by_cause(&old[i], &new[j]);
        struct campaign_pair *pair = ARRAY_ADD(&comparison->pairs);
        if (pair == NULL)
            return error_no_memory();
        pair->change = order < 0 ? CAMPAIGN_GONE : order > 0 ? CAMPAIGN_NEW : CAMPAIGN_SAME;
        if (order <= 0)
            pair->before = old[i++];
        if (order >= 0)
            pair->after = new[j++];
        comparison->changes[pair->change]++;
    }
    TRY(find_untried(comparison, CAMPAIGN_NEW));
    TRY(find_untried(comparison, CAMPAIGN_GONE));
    if (comparison->pairs.count != 0)
        qsort(comparison->pairs.items, comparison->pairs.count, sizeof *comparison->pairs.items,
              by_change);
    return NULL;
}

struct error *campaign_comparison_load(struct campaign_comparison *comparison,
                                       const struct report_subject *before,
                                       const struct report_subject *after,
                                       const struct report_options *options)
{
    *comparison = (struct campaign_comparison){.names = {before->name, after->name}};
    TRY(campaign_facts_load(&comparison->before, before, options));
    TRY(campaign_facts_load(&comparison->after, after, options));
    bool plain = comparison->before.design.kind == CAMPAIGN_PLAIN &&
                 comparison->after.design.kind == CAMPAIGN_PLAIN;
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts)
            TRY(differ(&comparison->verdicts[i], plain, &comparison->before.shares[i],
                       &comparison->after.shares[i]));
    TRY(differ(&comparison->failures, plain, &comparison->before.failures,
               &comparison->after.failures));
    return pair_findings(comparison);
}

void campaign_comparison_deinit(struct campaign_comparison *comparison)
{
    campaign_facts_deinit(&comparison->before);
    campaign_facts_deinit(&comparison->after);
    ARRAY_DEINIT(&comparison->pairs);
}

const char *campaign_change_name(enum campaign_change change)
{
    static const char *const names[] = {"new", "gone", "same", "untried"};
    return names[change];
}
