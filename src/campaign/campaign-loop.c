// SPDX-License-Identifier: GPL-3.0-or-later
// The main loop of a campaign: gives jobs to free slots and stores results, until there is a reason
// to stop. Adds second faults when it is time for them.
#include "campaign/campaign-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "campaign/second-faults.h"
#include "stats/stats.h"

#include <string.h>

#define FIRST_INTERVAL_CHECK 30  // counted trials before the first check
#define INVALID_MOST         100 // trials in a row that could not be run
#define FOLLOWING_SHARE      4   // recording for second faults may take 1/4 of the time left

static uint64_t planned(const struct campaign *campaign)
{
    uint64_t all = schedule_planned(campaign->schedule), most = campaign->limits->max_trials;
    return most != 0 && (all == 0 || most < all) ? most : all;
}

static double time_left_s(const struct campaign *campaign, uint64_t all)
{
    const struct ledger *ledger = &campaign->ledger;
    double here_s = clock_seconds(clock_ns() - ledger->started_ns), left_s = -1;
    uint64_t done = ledger->trials - campaign->trials_before;
    if (all != 0 && done > 0 && all >= ledger->trials)
        left_s = here_s / (double)done * (double)(all - ledger->trials);
    if (campaign->limits->time_budget_ns != 0) {
        double budget_s =
            clock_seconds(campaign->limits->time_budget_ns) - ledger_elapsed_s(ledger);
        budget_s = budget_s > 0 ? budget_s : 0;
        left_s = left_s < 0 || budget_s < left_s ? budget_s : left_s;
    }
    return left_s;
}

static void tell_progress(struct campaign *campaign, bool now)
{
    uint64_t now_ns = clock_ns();
    if (campaign->control->progress == NULL || (!now && now_ns < campaign->progress_at_ns))
        return;
    campaign->progress_at_ns = now_ns + PROGRESS_PAUSE_NS;
    struct campaign_progress progress = {
        .phase = "trials",
        .done = campaign->ledger.trials,
        .planned = planned(campaign),
        .findings = campaign->ledger.groups.items.count,
        .elapsed_s = ledger_elapsed_s(&campaign->ledger),
    };
    progress.left_s = time_left_s(campaign, progress.planned);
    memcpy(progress.verdicts, campaign->ledger.verdicts, sizeof progress.verdicts);
    campaign->control->progress(campaign->control->data, &progress);
}

// The interval is checked at fixed numbers of trials only. Repeated checks of growing data still
// stop a little too often on a lucky streak; the documentation says so.
static bool interval_reached(struct campaign *campaign)
{
    uint64_t n = campaign->ledger.counted;
    if (campaign->limits->until_interval <= 0 || n < campaign->next_interval_check)
        return false;
    campaign->next_interval_check = n + (n / 10 > 10 ? n / 10 : 10);
    struct stats_interval interval = stats_wilson(campaign->ledger.failures, n, STATS_CONFIDENCE);
    // The interval is not symmetric around the share: its longer side counts.
    double share = (double)campaign->ledger.failures / (double)n;
    double up = interval.high - share, down = share - interval.low;
    return (up > down ? up : down) <= campaign->limits->until_interval;
}

// Those whose results are not stored yet.
static uint64_t trials_running(const struct campaign *campaign)
{
    return schedule_held(campaign->schedule) + campaign->trials_running;
}

// Why no further trial should start, or STORE_STOP_NONE.
static enum store_stop reason_to_stop(struct campaign *campaign)
{
    const struct definition *limits = campaign->limits;
    const struct ledger *ledger = &campaign->ledger;
    if (campaign_interrupts(campaign) > 0)
        return STORE_STOP_INTERRUPT;
    if (limits->time_budget_ns != 0 &&
        ledger_elapsed_s(ledger) >= clock_seconds(limits->time_budget_ns))
        return STORE_STOP_TIME;
    if (interval_reached(campaign))
        return STORE_STOP_INTERVAL;
    if (ledger->invalid_in_row >= INVALID_MOST)
        return STORE_STOP_INVALID;
    if (limits->max_trials != 0 && ledger->trials >= limits->max_trials)
        return STORE_STOP_TRIALS;
    if (limits->stop_after != 0 && ledger_sure_findings(ledger) >= limits->stop_after)
        return STORE_STOP_FINDINGS;
    return STORE_STOP_NONE;
}

// Whether stored and running trials together reach the limit.
static bool enough_started(const struct campaign *campaign)
{
    uint64_t most = campaign->limits->max_trials;
    return most != 0 && campaign->ledger.trials + trials_running(campaign) >= most;
}

static bool may_confirm(const struct campaign *campaign)
{
    return campaign->stopped_by == STORE_STOP_NONE || campaign->stopped_by == STORE_STOP_INTERVAL ||
           campaign->stopped_by == STORE_STOP_TRIALS || campaign->stopped_by == STORE_STOP_FINDINGS;
}

static struct error *take_confirmation(struct campaign *campaign, struct running_job *running,
                                       bool *ret_got)
{
    *ret_got = false;
    if (!may_confirm(campaign))
        return NULL;
    struct finding_group *group = ledger_unconfirmed(&campaign->ledger, &running->finding);
    if (group == NULL)
        return NULL;
    running->job = (struct trial_job){.number = group->number,
                                      .seed = group->seed,
                                      .candidate = group->candidate,
                                      .proving = group->prover != NULL};
    running->job.spec = strdup(group->spec);
    if (running->job.spec == NULL)
        return error_no_memory();
    running->confirmation = true;
    *ret_got = true;
    return NULL;
}

// Second faults come when no first ones are left, but no later than after half of the time or of
// the trials.
static bool time_for_second_faults(const struct campaign *campaign)
{
    const struct definition *limits = campaign->limits;
    const struct ledger *ledger = &campaign->ledger;
    if (!campaign->second_faults_pending)
        return false;
    return (limits->max_trials != 0 && ledger->trials >= limits->max_trials / 2) ||
           (limits->time_budget_ns != 0 && ledger_elapsed_s(ledger) >= campaign->half_time_s);
}

static struct error *take_job(struct campaign *campaign, struct running_job *running, bool first,
                              bool *ret_got)
{
    *ret_got = false;
    if (first)
        TRY(take_confirmation(campaign, running, ret_got));
    if (*ret_got || campaign->stopped_by != STORE_STOP_NONE || enough_started(campaign) ||
        time_for_second_faults(campaign))
        return NULL;
    running->confirmation = false;
    return schedule_next(campaign->schedule, ret_got, &running->job);
}

// A place for a job: one that is free, or a new one.
static struct error *find_tag(struct campaign *campaign, uint32_t *ret_tag)
{
    if (campaign->free_tags.count != 0) {
        *ret_tag = campaign->free_tags.items[--campaign->free_tags.count];
        return NULL;
    }
    if (ARRAY_ADD(&campaign->running_jobs) == NULL)
        return error_no_memory();
    *ret_tag = (uint32_t)campaign->running_jobs.count - 1;
    return NULL;
}

static struct error *give_tag_back(struct campaign *campaign, uint64_t tag)
{
    uint32_t *free_tag = ARRAY_ADD(&campaign->free_tags);
    if (free_tag == NULL)
        return error_no_memory();
    *free_tag = (uint32_t)tag;
    return NULL;
}

// Takes one confirmation, or one trial, or as many trials as may be forked in one run.
static struct error *take_batch(struct campaign *campaign, struct engine_job *jobs,
                                size_t *ret_count)
{
    uint64_t all = planned(campaign), done = campaign->ledger.trials + trials_running(campaign);
    struct engine_load load = campaign->engine->load(campaign->workers);
    size_t most =
        fork_policy_lot(&campaign->forks, all > done ? all - done : 0, load.idle + load.busy);
    *ret_count = 0;
    for (size_t count = 0; count < most;) {
        uint32_t tag = 0;
        TRY(find_tag(campaign, &tag));
        struct running_job *running = &campaign->running_jobs.items[tag];
        bool got;
        TRY(take_job(campaign, running, count == 0, &got));
        if (!got)
            return give_tag_back(campaign, tag);
        running->used = true;
        campaign->trials_running += !running->confirmation;
        jobs[count++] =
            (struct engine_job){.candidate = running->job.candidate,
                                .spec = running->job.spec,
                                .seed = running->job.seed,
                                .number = running->confirmation ? 0 : running->job.number,
                                .tag = tag,
                                .control = running->confirmation && !running->job.proving};
        *ret_count = count;
        if (running->confirmation)
            return NULL;
    }
    return NULL;
}

// A batch needs an idle slot. A single job can wait in a busy one.
static bool has_room(const struct campaign *campaign)
{
    struct engine_load load = campaign->engine->load(campaign->workers);
    return load.idle > 0 || (!campaign->forks.on && load.room > 0);
}

static struct error *fill_slots(struct campaign *campaign)
{
    while (has_room(campaign)) {
        struct engine_job jobs[FORK_BATCH_MOST];
        size_t count;
        TRY(take_batch(campaign, jobs, &count));
        if (count == 0)
            return NULL;
        TRY(campaign->engine->offer(campaign->workers, jobs, count));
        if (campaign->stopped_by == STORE_STOP_NONE)
            campaign->stopped_by = reason_to_stop(campaign);
    }
    return NULL;
}

// Warns only if a forked trial was wrong. That a workload cannot be forked is usual, and only
// stored as a remark.
static struct error *tell_of_forks(struct campaign *campaign)
{
    const struct fork_policy *forks = &campaign->forks;
    if (forks->disputed == 0) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        TRY(buffer_printf(&text,
                          "forking at injection points was given up after %llu trials: the "
                          "workload %s; from then on they ran in full",
                          (unsigned long long)forks->tried, forks->why));
        return campaign_remark(campaign, text.data);
    }
    return campaign_warn(campaign,
                         "a trial that was forked told something else than its run in full, "
                         "which counts; from then on trials are not forked");
}

static struct error *take_result(struct campaign *campaign, struct engine_result *result)
{
    struct running_job *running = &campaign->running_jobs.items[result->job.tag];
    running->used = false;
    campaign->trials_running -= !running->confirmation;
    struct error *error = give_tag_back(campaign, result->job.tag);
    if (error == NULL && fork_policy_note(&campaign->forks, result))
        error = tell_of_forks(campaign);
    if (error == NULL && result->way == WAY_NOT_RUN && !running->confirmation)
        error = schedule_skip(campaign->schedule, &running->job, ledger_keep, &campaign->ledger);
    if (error != NULL || result->way == WAY_NOT_RUN) {
        trial_job_deinit(&running->job);
        engine_result_deinit(result);
    } else if (running->confirmation) {
        error = ledger_confirm(&campaign->ledger, running->finding, &running->job, result);
        trial_job_deinit(&running->job);
        engine_result_deinit(result);
    } else {
        error = schedule_done(campaign->schedule, &running->job, result, ledger_keep,
                              &campaign->ledger);
    }
    return error;
}

// Gives the slot its next job before storing the result, so that it does not wait for the store. In
// a sweep this is not possible: the result decides what comes next.
static struct error *wait_for_result(struct campaign *campaign)
{
    bool got;
    struct engine_result result;
    TRY(campaign->engine->take(campaign->workers, ledger_wait_ns(&campaign->ledger, RESULT_WAIT_NS),
                               &got, &result));
    if (!got)
        return NULL;
    struct error *error = NULL;
    if (campaign->definition->selection.kind != SELECT_SWEEP && campaign_interrupts(campaign) == 0)
        error = fill_slots(campaign);
    if (error != NULL) {
        engine_result_deinit(&result);
        return error;
    }
    return take_result(campaign, &result);
}

// Called when no trial runs. The schedule is made from the store, so it is loaded again to include
// the new candidates.
static struct error *add_second_faults(struct campaign *campaign)
{
    double left_s =
        clock_seconds(campaign->limits->time_budget_ns) - ledger_elapsed_s(&campaign->ledger);
    const struct second_faults second = {
        .definition = campaign->definition,
        .injector = campaign->injector,
        .shooting = campaign->shooting,
        .reference = campaign->reference,
        .control = campaign->control,
        .store = campaign->store,
        .campaign = &campaign->row,
        .recorded = campaign->longest_reference_ns != 0,
        .budget_ns = campaign->limits->time_budget_ns == 0 || left_s <= 0
                         ? 0
                         : (uint64_t)(left_s * (double)NS_PER_S / FOLLOWING_SHARE),
    };
    campaign->second_faults_pending = false;
    TRY(schedule_flush(campaign->schedule, ledger_keep, &campaign->ledger));
    TRY(ledger_flush(&campaign->ledger, true));
    TRY(second_faults_add(&second));
    return campaign_load_schedule(campaign);
}

// Ends the campaign if the engine has given up. What has no result stays undone.
static struct error *notice_failure(struct campaign *campaign, bool *ret_failed)
{
    const char *failure = campaign->engine->failure(campaign->workers);
    *ret_failed = failure != NULL;
    if (failure == NULL)
        return NULL;
    campaign->stopped_by = STORE_STOP_SLOTS;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "the campaign stops: %s; --resume runs what is left", failure));
    return campaign_warn(campaign, text.data);
}

struct error *campaign_loop(struct campaign *campaign)
{
    campaign->next_interval_check = FIRST_INTERVAL_CHECK;
    for (;;) {
        bool failed;
        TRY(notice_failure(campaign, &failed));
        if (failed)
            break;
        if (campaign->stopped_by == STORE_STOP_NONE)
            campaign->stopped_by = reason_to_stop(campaign);
        if (campaign_interrupts(campaign) > 0)
            campaign->stopped_by = STORE_STOP_INTERRUPT;
        if (campaign_interrupts(campaign) > 1)
            break;
        if (campaign->stopped_by != STORE_STOP_NONE && !campaign->jobs_withdrawn)
            TRY(campaign->engine->withdraw(campaign->workers));
        campaign->jobs_withdrawn = campaign->stopped_by != STORE_STOP_NONE;
        TRY(fill_slots(campaign));
        bool busy = campaign->engine->load(campaign->workers).busy != 0;
        if (!busy && campaign->second_faults_pending && campaign->stopped_by == STORE_STOP_NONE) {
            TRY(add_second_faults(campaign));
            continue;
        }
        if (!busy)
            break;
        TRY(wait_for_result(campaign));
        TRY(ledger_flush(&campaign->ledger, false));
        if (!campaign->ledger.open && schedule_held(campaign->schedule) == 0 &&
            campaign->engine->stored != NULL)
            campaign->engine->stored(campaign->workers);
        tell_progress(campaign, false);
    }
    TRY(schedule_flush(campaign->schedule, ledger_keep, &campaign->ledger));
    TRY(ledger_flush(&campaign->ledger, true));
    tell_progress(campaign, true);
    return NULL;
}
