// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two campaigns: has the target become better or worse? A loaded comparison refers to the
// stores of both subjects, which must stay open.
#ifndef ORDEAL_REPORT_CAMPAIGN_COMPARE_H
#define ORDEAL_REPORT_CAMPAIGN_COMPARE_H

#include "report/campaign/facts.h"

struct campaign_difference {
    struct campaign_share before, after;
    struct stats_test test;
};
enum campaign_change {
    CAMPAIGN_NEW,
    CAMPAIGN_GONE,
    CAMPAIGN_SAME,
    CAMPAIGN_UNTRIED, // only one campaign has it; the other knows the fault and has not tried it
    CAMPAIGN_CHANGES
};
struct campaign_pair {                             // findings with the same cause
    const struct campaign_finding *before, *after; // one of them may be NULL
    enum campaign_change change;
};
struct campaign_comparison {
    struct campaign_facts before, after;
    const char *names[2]; // of the stores
    struct campaign_difference verdicts[VERDICTS], failures;
    ARRAY(struct campaign_pair) pairs; // new, gone, same, untried; most severe first
    uint64_t changes[CAMPAIGN_CHANGES];
};
_must_check_ struct error *campaign_comparison_load(struct campaign_comparison *comparison,
                                                    const struct report_subject *before,
                                                    const struct report_subject *after,
                                                    const struct report_options *options);
void campaign_comparison_deinit(struct campaign_comparison *comparison);
const char *campaign_change_name(enum campaign_change change);
const struct campaign_finding *campaign_pair_finding(const struct campaign_pair *pair);

#endif
