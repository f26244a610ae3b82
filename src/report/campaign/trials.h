// SPDX-License-Identifier: GPL-3.0-or-later
// What can be known only by reading every trial. Memory stays bounded however many trials there
// are, apart from a few words per candidate.
#ifndef ORDEAL_REPORT_CAMPAIGN_TRIALS_H
#define ORDEAL_REPORT_CAMPAIGN_TRIALS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "report/campaign/facts.h"

// The candidates of a campaign. Each distinct string is kept once.
struct campaign_candidate {
    int64_t id;
    uint64_t number;
    const char *type, *function, *module, *file, *component; // NULL: not known
    unsigned line;
    bool selected;
    double weight;
};
struct campaign_candidates {
    ARRAY(struct campaign_candidate) rows; // sorted by id
    struct campaign_strings {
        struct arena arena;
        ARRAY(const char *) list;
        struct map by_hash;
    } strings;
};
_must_check_ struct error *campaign_candidates_load(struct store *store, int64_t campaign,
                                                    struct campaign_candidates *ret_candidates);
void campaign_candidates_deinit(struct campaign_candidates *candidates);
// NULL if there is no such candidate.
const struct campaign_candidate *
campaign_candidate_find(const struct campaign_candidates *candidates, int64_t id);

#define CAMPAIGN_TIMELINE 96
#define CAMPAIGN_SAMPLES  100

struct campaign_trial { // a trial that the report shows
    int64_t id, finding;
    uint64_t number;
    enum verdict verdict;
    char *spec, *reason;
    double seconds;
};

struct campaign_trials {
    // Trials by start time: column i begins at i × width_s seconds.
    double width_s;
    size_t columns;
    struct campaign_counts timeline[CAMPAIGN_TIMELINE];
    struct campaign_grouping sites;
    // The first CAMPAIGN_SAMPLES of each verdict, most severe first
    ARRAY(struct campaign_trial) samples;
    struct stats_moments seconds; // of trials that count
};
_must_check_ struct error *campaign_trials_load(const struct campaign_facts *facts,
                                                const struct campaign_candidates *candidates,
                                                struct campaign_trials *ret_trials);
void campaign_trials_deinit(struct campaign_trials *trials);

#endif
