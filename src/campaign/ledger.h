// SPDX-License-Identifier: GPL-3.0-or-later
// Stores results: trials, their injections, and the findings they belong to. Results are committed
// in batches, each at most COMMIT_WAIT_NS after it arrived.
#ifndef ORDEAL_CAMPAIGN_LEDGER_H
#define ORDEAL_CAMPAIGN_LEDGER_H

#include "base/error.h"
#include "campaign/campaign.h"
#include "campaign/finding.h"
#include "campaign/schedule.h"
#include "engine/engine.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct explainer;
struct scope;
struct ledger {
    struct store *store;
    struct finding_options options;
    const struct campaign_control *control;
    struct store_campaign *campaign; // its counts are kept up to date
    double elapsed_before_s;         // in earlier sessions
    uint64_t started_ns;             // this one
    bool confirm;
    struct scope *scope;
    struct finding_groups groups;
    struct explainer *explainer; // NULL until a finding is explained
    uint64_t verdicts[VERDICTS];
    uint64_t trials; // the sum of `verdicts`
    uint64_t counted, failures;
    uint64_t proving; // trials that were run for proofs
    uint64_t invalid_in_row;
    bool open; // a transaction is
    uint64_t commit_at_ns, update_at_ns;
};

// Loads the counts and findings that the store has already. The caller has set the first fields.
_must_check_ struct error *ledger_init(struct ledger *ledger);
// Drops uncommitted results.
void ledger_deinit(struct ledger *ledger);
// The number of findings that were repeated, that can happen, and that are in the scope that
// counts.
uint64_t ledger_sure_findings(const struct ledger *ledger);
double ledger_elapsed_s(const struct ledger *ledger);

// Stores a result; a schedule_keep. The trial's start is derived from its duration.
_must_check_ struct error *ledger_keep(void *ledger, struct trial_job *job,
                                       const struct candidate *candidate,
                                       struct engine_result *result);
// A finding whose trial is to be run again, or NULL. It is not returned again before
// ledger_confirm().
struct finding_group *ledger_unconfirmed(struct ledger *ledger, size_t *ret_index);
_must_check_ struct error *ledger_confirm(struct ledger *ledger, size_t index,
                                          const struct trial_job *job,
                                          struct engine_result *result);

// Commits if a batch is due, or, with `now`, in any case.
_must_check_ struct error *ledger_flush(struct ledger *ledger, bool now);
// Time until a batch is due, at most `most_ns`.
uint64_t ledger_wait_ns(const struct ledger *ledger, uint64_t most_ns);

#endif
