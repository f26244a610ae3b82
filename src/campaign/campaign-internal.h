// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of a campaign's course share.
#ifndef ORDEAL_CAMPAIGN_CAMPAIGN_INTERNAL_H
#define ORDEAL_CAMPAIGN_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"
#include "campaign/ledger.h"
#include "campaign/schedule.h"
#include "engine/engine.h"
#include "engine/fork-batch.h"
#include "engine/fork-policy.h"
#include "engine/shooting.h"

struct flight { // a job that a slot has; its index is the job's tag
    struct trial_job job;
    bool used, confirmation;
    size_t finding;
};

struct campaign {
    struct definition *definition;
    const struct definition *limits;
    const struct injector *injector;
    const struct campaign_control *control;
    struct store *store;
    struct store_campaign row;
    struct shooting *shooting;
    struct reference *reference;
    uint64_t longest_reference_ns;
    struct ledger ledger;
    struct schedule *schedule;
    const struct engine *engine;
    void *workers;           // the engine's own
    struct words switchable; // as of engine_task
    struct flight *flights;  // one more than slots have: the result that is being stored
    unsigned flight_count;
    uint64_t progress_at_ns;
    uint64_t trials_before; // that were there when it was gone on with
    uint64_t next_look;
    bool deepening;  // second faults are wanted and not yet chosen
    double middle_s; // of the time for trials
    enum store_stop stopped_by;
    bool stop_told; // to slots that have several jobs
    struct fork_policy forks;
};

int campaign_interrupts(const struct campaign *campaign);
// Told, and kept in the store; the same one only once.
_must_check_ struct error *campaign_warn(struct campaign *campaign, const char *sentence);
// Only kept: the report tells it.
_must_check_ struct error *campaign_remark(struct campaign *campaign, const char *sentence);
_must_check_ struct error *campaign_load_schedule(struct campaign *campaign);
// Keeps the slots busy until there is a reason to stop.
_must_check_ struct error *campaign_loop(struct campaign *campaign);

#endif
