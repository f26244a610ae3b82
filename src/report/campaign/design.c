// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates shares from samples in which candidates had unequal chances: a fixed number from each
// group, or by weight. Each trial stands for the candidates it was chosen from (Hájek's estimator).
// Wilson's interval is computed for the number of equal trials that the unequal ones are worth.
#include "report/campaign/trials.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stratum {      // a group that a fixed number of candidates is chosen from
    const char *name; // from the candidates: equal text, equal pointer
    uint64_t size;    // candidates that can be chosen
    uint64_t chosen, run;
    double rate;      // weighted: a candidate of weight w is chosen with 1 - exp(-w × rate)
    double low, high; // bounds of the logarithm of the rate
    double expected;  // number of candidates chosen at this rate, on average
    // Sums over trials of 1 / probability, and of its square.
    double sums[VERDICTS], squares[VERDICTS];
};
struct sample {
    struct campaign_candidates candidates;
    struct campaign_design *design;
    ARRAY(struct stratum) strata; // sorted by the address of the name
};

static void sample_deinit(struct sample *sample)
{
    campaign_candidates_deinit(&sample->candidates);
    ARRAY_DEINIT(&sample->strata);
}

static const char *group_of(const struct sample *sample, const struct campaign_candidate *candidate)
{
    const struct {
        const char *by, *name;
    } groups[] = {{"type", candidate->type},
                  {"function", candidate->function},
                  {"module", candidate->module},
                  {"file", candidate->file},
                  {"component", candidate->component}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].by, sample->design->per) == 0)
            return groups[i].name;
    return NULL;
}

static int by_name(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct stratum *)left)->name;
    uintptr_t b = (uintptr_t)((const struct stratum *)right)->name;
    return a < b ? -1 : a > b;
}

static struct stratum *stratum_of(const struct sample *sample,
                                  const struct campaign_candidate *candidate)
{
    const struct stratum key = {.name = group_of(sample, candidate)};
    return sample->strata.count == 0
               ? NULL
               : bsearch(&key, sample->strata.items, sample->strata.count, sizeof key, by_name);
}

static struct error *make_strata(struct sample *sample)
{
    size_t count = sample->candidates.rows.count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct stratum *stratum = ARRAY_ADD(&sample->strata);
        if (stratum == NULL)
            return error_no_memory();
        *stratum = (struct stratum){
            .name = group_of(sample, &sample->candidates.rows.items[i]), .low = -700, .high = 700};
    }
    if (count != 0)
        qsort(sample->strata.items, count, sizeof *sample->strata.items, by_name);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || sample->strata.items[kept - 1].name != sample->strata.items[i].name)
            sample->strata.items[kept++] = sample->strata.items[i];
    sample->strata.count = kept;
    for (size_t i = 0; i < count; i++) {
        const struct campaign_candidate *candidate = &sample->candidates.rows.items[i];
        struct stratum *stratum = stratum_of(sample, candidate);
        stratum->size += candidate->weight > 0;
        stratum->chosen += candidate->selected;
        sample->design->outside += !(candidate->weight > 0);
    }
    return NULL;
}

// Weighted sampling gives each candidate an exponentially distributed waiting time and takes the
// first `chosen` ones. These are about the candidates that arrive before the time at which `chosen`
// arrivals are expected. Finds that time by bisection, for all strata at once.
static void find_rates(struct sample *sample)
{
    struct stratum *strata = sample->strata.items;
    for (int step = 0; step < 60; step++) {
        for (size_t i = 0; i < sample->strata.count; i++) {
            strata[i].expected = 0;
            strata[i].rate = exp((strata[i].low + strata[i].high) / 2);
        }
        for (size_t i = 0; i < sample->candidates.rows.count; i++) {
            const struct campaign_candidate *candidate = &sample->candidates.rows.items[i];
            struct stratum *stratum = stratum_of(sample, candidate);
            if (candidate->weight > 0)
                stratum->expected += -expm1(-candidate->weight * stratum->rate);
        }
        for (size_t i = 0; i < sample->strata.count; i++) {
            bool early = strata[i].expected < (double)strata[i].chosen;
            *(early ? &strata[i].low : &strata[i].high) = log(strata[i].rate);
        }
    }
}

static double probability(const struct sample *sample, const struct stratum *stratum,
                          const struct campaign_candidate *candidate)
{
    if (stratum->chosen >= stratum->size)
        return 1;
    return sample->design->weighted ? -expm1(-candidate->weight * stratum->rate)
                                    : (double)stratum->chosen / (double)stratum->size;
}

static struct error *add_trial(void *data, const struct store_trial *row)
{
    struct sample *sample = data;
    const struct campaign_candidate *candidate =
        campaign_candidate_find(&sample->candidates, row->candidate);
    struct stratum *stratum = candidate != NULL ? stratum_of(sample, candidate) : NULL;
    if (stratum == NULL)
        return NULL;
    double chance = probability(sample, stratum, candidate);
    enum verdict verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID;
    stratum->run++;
    if (!(chance > 0))
        return NULL;
    stratum->sums[verdict] += 1 / chance;
    stratum->squares[verdict] += 1 / (chance * chance);
    return NULL;
}

// Totals over all strata. `hit` is over the trials whose share is wanted, `all` over those that
// count.
struct totals {
    double hit, all, hit_squares, squares;
};

static void estimate(const struct totals *totals, double confidence, struct campaign_share *share,
                     double *ret_effective)
{
    double part = totals->hit / totals->all;
    double effective = totals->all * totals->all / totals->squares;
    double variance = ((1 - part) * (1 - part) * totals->hit_squares +
                       part * part * (totals->squares - totals->hit_squares)) /
                      (totals->all * totals->all);
    if (variance > 0 && part * (1 - part) / variance < effective)
        effective = part * (1 - part) / variance;
    share->part = part;
    share->interval = stats_wilson_share(part, effective, confidence);
    *ret_effective = effective;
}

static struct totals add_up(const struct sample *sample, const bool *hits)
{
    struct totals totals = {0};
    for (size_t i = 0; i < sample->strata.count; i++) {
        const struct stratum *stratum = &sample->strata.items[i];
        // The trials that were run stand for all candidates that were chosen.
        double times = stratum->run != 0 ? (double)stratum->chosen / (double)stratum->run : 0;
        for (int j = 0; j < VERDICTS; j++) {
            double sum = times * stratum->sums[j], square = times * times * stratum->squares[j];
            totals.all += verdict_facts[j].counts ? sum : 0;
            totals.squares += verdict_facts[j].counts ? square : 0;
            totals.hit += hits[j] ? sum : 0;
            totals.hit_squares += hits[j] ? square : 0;
        }
    }
    return totals;
}

static void estimate_all(struct campaign_facts *facts, const struct sample *sample)
{
    bool failures[VERDICTS] = {false};
    double effective;
    for (int i = 0; i < VERDICTS; i++) {
        bool hits[VERDICTS] = {false};
        failures[i] = verdict_facts[i].counts && verdict_facts[i].failure;
        if (!verdict_facts[i].counts)
            continue;
        hits[i] = true;
        struct totals totals = add_up(sample, hits);
        if (totals.all > 0)
            estimate(&totals, facts->confidence, &facts->shares[i], &effective);
    }
    struct totals totals = add_up(sample, failures);
    if (totals.all > 0)
        estimate(&totals, facts->confidence, &facts->failures, &facts->design.effective);
    for (size_t i = 0; i < sample->strata.count; i++)
        if (sample->strata.items[i].run == 0)
            facts->design.outside += sample->strata.items[i].size;
}

static bool weights_vary(const struct campaign_candidates *candidates)
{
    for (size_t i = 1; i < candidates->rows.count; i++)
        if (candidates->rows.items[i].weight != candidates->rows.items[0].weight)
            return true;
    return false;
}

static void mark_shares_unknown(struct campaign_facts *facts)
{
    facts->design.kind = CAMPAIGN_UNKNOWN;
    for (int i = 0; i < VERDICTS; i++)
        facts->shares[i].unknown = true;
    facts->failures.unknown = true;
}

struct error *campaign_design_find(struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    if (campaign->selection != STORE_SELECT_SAMPLE || facts->selected >= campaign->candidates)
        return NULL;
    const char *per = campaign->per;
    bool given = campaign->weighted;
    _cleanup_(sample_deinit) struct sample sample = {.design = &facts->design};
    TRY(campaign_candidates_load(facts->store, facts->campaign.id, &sample.candidates));
    facts->design.weighted = given || weights_vary(&sample.candidates);
    if (per != NULL)
        snprintf(facts->design.per, sizeof facts->design.per, "%s", per);
    if (per == NULL && !facts->design.weighted)
        return NULL;
    // Stores of earlier versions have weight 1 everywhere, whatever the real weights were.
    if (given && !weights_vary(&sample.candidates) && sample.candidates.rows.count != 0 &&
        sample.candidates.rows.items[0].weight == 1) {
        mark_shares_unknown(facts);
        return NULL;
    }
    facts->design.kind = CAMPAIGN_ESTIMATED;
    TRY(make_strata(&sample));
    if (facts->design.weighted)
        find_rates(&sample);
    TRY(store_each_trial(facts->store, facts->campaign.id, false, add_trial, &sample));
    estimate_all(facts, &sample);
    return NULL;
}
