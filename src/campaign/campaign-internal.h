// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a running campaign, shared by campaign.c and campaign-loop.c.
#ifndef ORDEAL_CAMPAIGN_CAMPAIGN_INTERNAL_H
#define ORDEAL_CAMPAIGN_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"
#include "campaign/ledger.h"
#include "campaign/schedule.h"
#include "campaign/scope.h"
#include "engine/engine.h"
#include "engine/fork-batch.h"
#include "engine/fork-policy.h"
#include "engine/shooting.h"

struct running_job { // a job that a slot has; its index is the job's tag
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
    struct scope *scope;
    struct schedule *schedule;
    const struct engine *engine;
    void *workers;           // the engine's own
    struct words switchable; // as of engine_task
    ARRAY(struct running_job) running_jobs;
    ARRAY(uint32_t) free_tags; // of running_jobs
    uint64_t trials_running;   // of those, the trials
    uint64_t progress_at_ns;
    uint64_t trials_before; // trials that the store had at the start
    uint64_t next_interval_check;
    bool second_faults_pending; // they are wanted and not yet chosen
    double half_time_s;         // half of the time for trials has passed then
    enum store_stop stopped_by;
    bool jobs_withdrawn; // from slots that have several
    struct fork_policy forks;
};

int campaign_interrupts(const struct campaign *campaign);
// Tells the user and stores a remark, unless the store has the same sentence already.
_must_check_ struct error *campaign_warn(struct campaign *campaign, const char *sentence);
// Only stores a remark; the report shows it.
_must_check_ struct error *campaign_remark(struct campaign *campaign, const char *sentence);
_must_check_ struct error *campaign_load_schedule(struct campaign *campaign);
// Gives jobs to the slots until there is a reason to stop.
_must_check_ struct error *campaign_loop(struct campaign *campaign);

#endif
