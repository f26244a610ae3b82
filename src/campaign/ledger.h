// SPDX-License-Identifier: GPL-3.0-or-later
// Writes down what came out: trials, their injections, the findings they belong to. Results are
// stored in batches, none later than COMMIT_WAIT_NS after it came in.
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

struct ledger {
    struct store *store;
    struct finding_options options;
    const struct campaign_control *control;
    struct store_campaign *campaign; // its counts are kept up to date
    double elapsed_before_s;         // in earlier sessions
    uint64_t started_ns;             // this one
    bool confirm;
    struct finding_groups groups;
    uint64_t verdicts[VERDICTS];
    uint64_t trials; // all of the above
    uint64_t counted, failures;
    uint64_t invalid_in_row;
    bool open; // a transaction
    uint64_t commit_at_ns, update_at_ns;
};

// Counts what is stored already.
_must_check_ struct error *ledger_init(struct ledger *ledger);
// Drops what is not committed.
void ledger_deinit(struct ledger *ledger);
double ledger_elapsed_s(const struct ledger *ledger);

// As schedule_keep. The start of the trial is derived from its duration.
_must_check_ struct error *ledger_keep(void *ledger, struct trial_job *job,
                                       const struct candidate *candidate,
                                       struct engine_result *result);
// A finding whose trial is to be run again; NULL if there is none. It is the caller's until
// ledger_confirm().
struct finding_group *ledger_unconfirmed(struct ledger *ledger, size_t *ret_index);
_must_check_ struct error *ledger_confirm(struct ledger *ledger, size_t index,
                                          const struct trial_job *job,
                                          struct engine_result *result);

// Commits if it is time, or in any case.
_must_check_ struct error *ledger_flush(struct ledger *ledger, bool now);
// How long until it is time; `most_ns` if nothing waits.
uint64_t ledger_wait_ns(const struct ledger *ledger, uint64_t most_ns);

#endif
