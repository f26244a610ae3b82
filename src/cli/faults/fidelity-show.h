// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of workloads as text and as JSON. Both append to `text`.
#ifndef ORDEAL_CLI_FAULTS_FIDELITY_SHOW_H
#define ORDEAL_CLI_FAULTS_FIDELITY_SHOW_H

#include "cli/faults/fidelity-campaign.h"
#include "fidelity/measure.h"

struct fidelity_shown {
    const struct fidelity_subject *subjects; // one per workload
    const struct fidelity_workload *workloads;
    const struct fidelity_result *results; // one per workload
    size_t count;
    const struct fidelity_match *match; // of the first workload, or NULL
    const struct fidelity_campaign *campaigns;
    size_t campaign_count;
};

_must_check_ struct error *fidelity_put_text(const struct fidelity_shown *shown,
                                             struct buffer *text);
_must_check_ struct error *fidelity_put_json(const struct fidelity_shown *shown,
                                             struct buffer *text);

// Correlates the coverages of several workloads, for each pair of units. Fewer than three workloads
// have no correlation.
_must_check_ struct error *
fidelity_correlate_units(const struct fidelity_shown *shown,
                         struct stats_correlation ret_pairs[UNITS][UNITS]);

#endif
