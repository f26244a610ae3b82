// SPDX-License-Identifier: GPL-3.0-or-later
// The course of a campaign: preparation, then a loop that keeps the job slots busy and writes down
// what they find until there is a reason to stop.
#include "campaign/campaign.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "campaign/fork-batch.h"
#include "campaign/fork-policy.h"
#include "campaign/ledger.h"
#include "campaign/preparation.h"
#include "campaign/schedule.h"
#include "campaign/second-faults.h"
#include "campaign/shooting.h"
#include "campaign/subject.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_NS         100000000u
#define WAIT_MS             100
#define FIRST_LOOK          30   // counted trials before the interval is looked at
#define CONFIDENCE          0.95 // of the interval that ends a campaign
#define INVALID_MOST        100  // trials in a row that could not be run
#define PATIENCE_NS         (60 * 1000000000ull)
#define PATIENCE_UNKNOWN_NS (600 * 1000000000ull)

struct flight { // a job that a slot has; its index is the job's tag
    struct trial_job job;
    bool used, confirmation;
    size_t finding;
};

struct campaign {
    const struct definition *definition, *limits;
    const struct injector *injector;
    const struct campaign_control *control;
    struct store *store;
    struct store_campaign row;
    char *warnings;
    struct shooting *shooting;
    struct reference *reference;
    uint64_t longest_reference_ns;
    struct ledger ledger;
    struct schedule *schedule;
    struct pool *pool;
    definition_words switchable; // as of slot_task
    struct flight *flights;      // one more than slots have: the result that is being stored
    unsigned flight_count;
    uint64_t progress_at_ns;
    uint64_t trials_before; // in earlier sessions
    uint64_t next_look;
    bool deepening;  // second faults are wanted and not yet chosen
    double middle_s; // of the time for trials
    const char *stopped_by;
    bool stop_told; // to slots that have several jobs
    struct fork_policy forks;
};

static int interrupts(const struct campaign *campaign)
{
    return campaign->control->interrupts != NULL ? *campaign->control->interrupts : 0;
}

static uint64_t planned(const struct campaign *campaign)
{
    uint64_t all = schedule_planned(campaign->schedule), most = campaign->limits->max_trials;
    return most != 0 && (all == 0 || most < all) ? most : all;
}

static double time_left(const struct campaign *campaign, uint64_t all)
{
    const struct ledger *ledger = &campaign->ledger;
    double here = (double)(clock_ns() - ledger->started_ns) / 1e9, left = -1;
    uint64_t done = ledger->trials - campaign->trials_before;
    if (all != 0 && done > 0 && all >= ledger->trials)
        left = here / (double)done * (double)(all - ledger->trials);
    if (campaign->limits->time_budget_ns != 0) {
        double budget = (double)campaign->limits->time_budget_ns / 1e9 - ledger_elapsed(ledger);
        budget = budget > 0 ? budget : 0;
        left = left < 0 || budget < left ? budget : left;
    }
    return left;
}

static void tell_progress(struct campaign *campaign, bool now)
{
    uint64_t time = clock_ns();
    if (campaign->control->progress == NULL || (!now && time < campaign->progress_at_ns))
        return;
    campaign->progress_at_ns = time + PROGRESS_NS;
    struct campaign_progress progress = {
        .phase = "trials",
        .done = campaign->ledger.trials,
        .planned = planned(campaign),
        .findings = campaign->ledger.groups.items.count,
        .elapsed_s = ledger_elapsed(&campaign->ledger),
    };
    progress.left_s = time_left(campaign, progress.planned);
    memcpy(progress.verdicts, campaign->ledger.verdicts, sizeof progress.verdicts);
    campaign->control->progress(campaign->control->data, &progress);
}

// The rule is asked at fixed numbers of trials only. That is still a sequence of looks at growing
// data, which stops a little too often on a lucky streak; the documentation says so.
static bool interval_reached(struct campaign *campaign)
{
    uint64_t n = campaign->ledger.counted;
    if (campaign->limits->until_interval <= 0 || n < campaign->next_look)
        return false;
    campaign->next_look = n + (n / 10 > 10 ? n / 10 : 10);
    struct stats_interval interval = stats_wilson(campaign->ledger.failures, n, CONFIDENCE);
    // The interval lies around the share unevenly: what counts is its longer side.
    double share = (double)campaign->ledger.failures / (double)n;
    double up = interval.high - share, down = share - interval.low;
    return (up > down ? up : down) <= campaign->limits->until_interval;
}

static unsigned trials_running(const struct campaign *campaign)
{
    unsigned count = 0;
    for (unsigned i = 0; i < campaign->flight_count; i++)
        count += campaign->flights[i].used && !campaign->flights[i].confirmation;
    return count;
}

// Why no further trial is to be started, or NULL.
static const char *reason_to_stop(struct campaign *campaign)
{
    const struct definition *limits = campaign->limits;
    const struct ledger *ledger = &campaign->ledger;
    if (interrupts(campaign) > 0)
        return "interrupt";
    if (limits->time_budget_ns != 0 &&
        ledger_elapsed(ledger) >= (double)limits->time_budget_ns / 1e9)
        return "time budget";
    if (interval_reached(campaign))
        return "interval";
    if (ledger->invalid_in_row >= INVALID_MOST)
        return "invalid trials";
    if (limits->max_trials != 0 && ledger->trials >= limits->max_trials)
        return "max trials";
    return NULL;
}

// As many as are wanted may be on their way already.
static bool enough_started(const struct campaign *campaign)
{
    uint64_t most = campaign->limits->max_trials;
    return most != 0 && campaign->ledger.trials + trials_running(campaign) >= most;
}

static bool may_confirm(const struct campaign *campaign)
{
    return campaign->stopped_by == NULL || strcmp(campaign->stopped_by, "interval") == 0 ||
           strcmp(campaign->stopped_by, "max trials") == 0;
}

static struct error *take_confirmation(struct campaign *campaign, struct flight *flight,
                                       bool *ret_got)
{
    *ret_got = false;
    if (!may_confirm(campaign))
        return NULL;
    struct finding_group *group = ledger_unconfirmed(&campaign->ledger, &flight->finding);
    if (group == NULL)
        return NULL;
    flight->job = (struct trial_job){
        .number = group->number, .seed = group->seed, .candidate = group->candidate};
    flight->job.spec = strdup(group->spec);
    if (flight->job.spec == NULL)
        return error_no_memory();
    flight->confirmation = true;
    *ret_got = true;
    return NULL;
}

// Second faults have their turn when there are no first ones left, but no later than in the middle.
static bool time_to_deepen(const struct campaign *campaign)
{
    const struct definition *limits = campaign->limits;
    const struct ledger *ledger = &campaign->ledger;
    if (!campaign->deepening)
        return false;
    return (limits->max_trials != 0 && ledger->trials >= limits->max_trials / 2) ||
           (limits->time_budget_ns != 0 && ledger_elapsed(ledger) >= campaign->middle_s);
}

static struct error *take_job(struct campaign *campaign, struct flight *flight, bool first,
                              bool *ret_got)
{
    *ret_got = false;
    if (first)
        TRY(take_confirmation(campaign, flight, ret_got));
    if (*ret_got || campaign->stopped_by != NULL || enough_started(campaign) ||
        time_to_deepen(campaign))
        return NULL;
    flight->confirmation = false;
    return schedule_next(campaign->schedule, ret_got, &flight->job);
}

// A confirmation alone, or trials: one, or as many as may be forked together.
static struct error *take_lot(struct campaign *campaign, struct pool_job *jobs, size_t *ret_count)
{
    uint64_t all = planned(campaign), done = campaign->ledger.trials + trials_running(campaign);
    size_t most = fork_policy_lot(&campaign->forks, all > done ? all - done : 0,
                                  pool_idle(campaign->pool) + pool_busy(campaign->pool));
    *ret_count = 0;
    for (size_t count = 0; count < most;) {
        unsigned tag = 0;
        while (campaign->flights[tag].used)
            tag++;
        struct flight *flight = &campaign->flights[tag];
        bool got;
        TRY(take_job(campaign, flight, count == 0, &got));
        if (!got)
            return NULL;
        flight->used = true;
        jobs[count++] = (struct pool_job){.candidate = flight->job.candidate,
                                          .spec = flight->job.spec,
                                          .seed = flight->job.seed,
                                          .tag = tag};
        *ret_count = count;
        if (flight->confirmation)
            return NULL;
    }
    return NULL;
}

static struct error *fill_slots(struct campaign *campaign)
{
    while (pool_idle(campaign->pool) > 0) {
        struct pool_job jobs[FORK_BATCH_MOST];
        size_t count;
        TRY(take_lot(campaign, jobs, &count));
        if (count == 0)
            return NULL;
        TRY(pool_submit(campaign->pool, jobs, count));
        if (campaign->stopped_by == NULL)
            campaign->stopped_by = reason_to_stop(campaign);
    }
    return NULL;
}

static struct error *add_warning(struct campaign *campaign, const char *sentence);

// Only what went wrong: a workload that is not made for it is the usual case.
static struct error *warn_of_forks(struct campaign *campaign)
{
    const struct fork_policy *forks = &campaign->forks;
    if (forks->disputed == 0)
        return NULL;
    return add_warning(campaign,
                       "a trial that was forked told something else than its run in full, "
                       "which counts; from then on trials are not forked");
}

static struct error *take_result(struct campaign *campaign, struct pool_result *result)
{
    struct flight *flight = &campaign->flights[result->job.tag];
    flight->used = false;
    struct error *error = NULL;
    if (fork_policy_note(&campaign->forks, result))
        error = warn_of_forks(campaign);
    if (error != NULL || result->way == WAY_NOT_RUN) {
        trial_job_deinit(&flight->job);
        pool_result_deinit(result);
    } else if (flight->confirmation) {
        error = ledger_confirm(&campaign->ledger, flight->finding, &flight->job, result);
        trial_job_deinit(&flight->job);
        pool_result_deinit(result);
    } else {
        error =
            schedule_done(campaign->schedule, &flight->job, result, ledger_keep, &campaign->ledger);
    }
    return error;
}

// The slot gets its next job before the result is stored, so that it does not wait for the store.
// Not in a sweep: there the result decides what is next.
static struct error *wait_for_result(struct campaign *campaign)
{
    bool got;
    struct pool_result result;
    TRY(pool_wait(campaign->pool, ledger_wait(&campaign->ledger, WAIT_MS), &got, &result));
    if (!got)
        return NULL;
    struct error *error = NULL;
    if (campaign->definition->selection.kind != SELECT_SWEEP && interrupts(campaign) == 0)
        error = fill_slots(campaign);
    if (error != NULL) {
        pool_result_deinit(&result);
        return error;
    }
    return take_result(campaign, &result);
}

#define FOLLOWING_SHARE 4 // of the time that is left

static struct error *load_schedule(struct campaign *campaign)
{
    const struct schedule_options options = {
        .definition = campaign->definition,
        .injector = campaign->injector,
        .injector_self = shooting_injector(campaign->shooting),
        .store = campaign->store,
        .campaign = campaign->row.id,
    };
    schedule_free(TAKE(campaign->schedule));
    return schedule_load(&options, &campaign->schedule);
}

// Nothing runs now. The schedule follows from the store: it is made anew, with what was added.
static struct error *deepen(struct campaign *campaign)
{
    double left =
        (double)campaign->limits->time_budget_ns / 1e9 - ledger_elapsed(&campaign->ledger);
    const struct second_faults second = {
        .definition = campaign->definition,
        .injector = campaign->injector,
        .shooting = campaign->shooting,
        .reference = campaign->reference,
        .control = campaign->control,
        .store = campaign->store,
        .campaign = &campaign->row,
        .recorded = campaign->longest_reference_ns != 0,
        .budget_ns = campaign->limits->time_budget_ns == 0 || left <= 0
                         ? 0
                         : (uint64_t)(left * 1e9 / FOLLOWING_SHARE),
    };
    campaign->deepening = false;
    TRY(ledger_flush(&campaign->ledger, true));
    TRY(second_faults_add(&second));
    return load_schedule(campaign);
}

static struct error *loop(struct campaign *campaign)
{
    for (;;) {
        if (campaign->stopped_by == NULL)
            campaign->stopped_by = reason_to_stop(campaign);
        if (interrupts(campaign) > 0)
            campaign->stopped_by = "interrupt";
        if (interrupts(campaign) > 1)
            break;
        if (campaign->stopped_by != NULL && !campaign->stop_told)
            TRY(pool_stop(campaign->pool));
        campaign->stop_told = campaign->stopped_by != NULL;
        TRY(fill_slots(campaign));
        if (pool_busy(campaign->pool) == 0 && campaign->deepening && campaign->stopped_by == NULL) {
            TRY(deepen(campaign));
            continue;
        }
        if (pool_busy(campaign->pool) == 0)
            break;
        TRY(wait_for_result(campaign));
        TRY(ledger_flush(&campaign->ledger, false));
        tell_progress(campaign, false);
    }
    TRY(ledger_flush(&campaign->ledger, true));
    tell_progress(campaign, true);
    return NULL;
}

static unsigned wanted_jobs(const struct campaign *campaign)
{
    unsigned jobs = campaign->control->jobs;
    if (jobs == 0)
        jobs = campaign->definition->jobs;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs == 0)
        jobs = processors > 0 ? (unsigned)processors : 1;
    return jobs < 1024 ? jobs : 1024;
}

static struct error *add_warning(struct campaign *campaign, const char *sentence)
{
    const char *old = campaign->row.warnings;
    struct buffer text = {0};
    if (old != NULL && strstr(old, sentence) != NULL)
        return NULL;
    TRY(buffer_printf(&text, "%s%s%s", old != NULL ? old : "", old != NULL ? "\n" : "", sentence));
    free(campaign->warnings);
    campaign->row.warnings = campaign->warnings = text.data;
    if (campaign->control->warn != NULL)
        campaign->control->warn(campaign->control->data, sentence);
    return NULL;
}

// Servers that share a network would take each other's ports.
static struct error *job_count(struct campaign *campaign, unsigned *ret_jobs)
{
    *ret_jobs = wanted_jobs(campaign);
    if (*ret_jobs == 1 || !definition_is_server(campaign->definition) ||
        shooting_is_apart(campaign->shooting))
        return NULL;
    *ret_jobs = 1;
    return add_warning(campaign, "trials run one at a time: their servers have no network of their "
                                 "own, and would take each other's ports");
}

// After which a slot is stuck. Whatever time its steps use up first is a verdict: a posttest that
// hangs is a finding, and must not be lost in a trial that could not be run.
static uint64_t patience_ns(const struct campaign *campaign)
{
    uint64_t known = campaign->longest_reference_ns;
    uint64_t steps = SHOOTING_OTHER_STEPS * SHOOTING_STEP_TIMEOUT_S * 1000000000ull;
    return (known != 0 ? known * 10 + PATIENCE_NS : PATIENCE_UNKNOWN_NS) + steps +
           5 * reference_timeout_ns(campaign->reference) + campaign->definition->service.grace_ns;
}

static struct error *add_switchable(void *data, const struct store_candidate *row)
{
    static const char once[] = " and once";
    struct campaign *campaign = data;
    size_t size = strlen(row->spec);
    if (!row->selected || size < strlen(once) ||
        strcmp(row->spec + size - strlen(once), once) != 0 || strstr(row->spec, " then ") != NULL)
        return NULL;
    char **place = ARRAY_ADD(&campaign->switchable);
    if (place == NULL || (*place = strdup(row->spec)) == NULL) {
        campaign->switchable.count -= place != NULL;
        return error_no_memory();
    }
    return NULL;
}

// Of a server that lives long: faults that wait for a call from some place. Others are for one call
// of a process's life, and need a life of their own.
static struct error *find_switchable(struct campaign *campaign)
{
    if (!campaign->definition->service.long_lived)
        return NULL;
    return store_each_candidate(campaign->store, campaign->row.id, 0, 0, add_switchable, campaign);
}

static struct error *run_trials(struct campaign *campaign)
{
    campaign->ledger.store = campaign->store;
    campaign->ledger.control = campaign->control;
    campaign->ledger.campaign = &campaign->row;
    campaign->ledger.confirm = campaign->definition->confirm;
    campaign->ledger.options = (struct finding_options){
        .definition = campaign->definition,
        .injector = campaign->injector,
        .injector_self = shooting_injector(campaign->shooting),
        .timeout_ns = reference_timeout_ns(campaign->reference),
    };
    TRY(preparation_harmless(campaign->store, campaign->row.id, campaign->definition,
                             &campaign->ledger.options.harmless));
    TRY(ledger_init(&campaign->ledger));
    campaign->trials_before = campaign->ledger.trials;
    campaign->next_look = FIRST_LOOK;
    TRY(load_schedule(campaign));
    TRY(second_faults_due(campaign->injector, shooting_injector(campaign->shooting),
                          campaign->store, campaign->row.id, &campaign->deepening));
    campaign->middle_s =
        (ledger_elapsed(&campaign->ledger) + (double)campaign->limits->time_budget_ns / 1e9) / 2;
    unsigned jobs;
    TRY(job_count(campaign, &jobs));
    campaign->forks = fork_policy(campaign->definition, campaign->injector, campaign->reference);
    campaign->flight_count = (jobs + 1) * FORK_BATCH_MOST;
    campaign->flights = calloc(campaign->flight_count, sizeof *campaign->flights);
    if (campaign->flights == NULL)
        return error_no_memory();
    TRY(find_switchable(campaign));
    TRY(pool_new(campaign->definition, campaign->injector, shooting_injector(campaign->shooting),
                 campaign->reference,
                 campaign->switchable.count != 0 ? &campaign->switchable : NULL, jobs,
                 &campaign->pool));
    pool_set_patience(campaign->pool, patience_ns(campaign));
    return loop(campaign);
}

// Trials of two programs in one campaign: whoever reads the report must know.
static struct error *compare_program(struct campaign *campaign)
{
    _cleanup_free_ char *program = NULL, *changed = NULL;
    TRY(subject_program(campaign->definition, &program));
    TRY(subject_program_changed(campaign->row.program, program, &changed));
    if (changed == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "%s: trials from before and after are in one campaign", changed));
    return add_warning(campaign, text.data);
}

// What the injector measured. Not in a transaction: it has one of its own.
static struct error *keep_measures(struct campaign *campaign)
{
    if (campaign->injector->keep == NULL)
        return NULL;
    return campaign->injector->keep(shooting_injector(campaign->shooting), campaign->store,
                                    campaign->row.id);
}

static struct error *prepare(struct campaign *campaign)
{
    bool done;
    TRY(preparation_done(campaign->store, campaign->row.id, &done));
    if (done)
        TRY(compare_program(campaign));
    if (done && campaign->injector->recall != NULL)
        TRY(campaign->injector->recall(shooting_injector(campaign->shooting), campaign->store,
                                       campaign->row.id));
    if (done)
        return reference_load(&campaign->definition->oracle, campaign->store, campaign->row.id,
                              &campaign->reference);
    struct preparation preparation = {
        .definition = campaign->definition,
        .injector = campaign->injector,
        .shooting = campaign->shooting,
        .store = campaign->store,
        .control = campaign->control,
        .campaign = &campaign->row,
        .warnings = &campaign->warnings,
        .budget_ns = campaign->limits->time_budget_ns,
        .spent_ns = (uint64_t)(ledger_elapsed(&campaign->ledger) * 1e9),
    };
    TRY(preparation_run(&preparation, &campaign->reference));
    campaign->longest_reference_ns = preparation.longest_ns;
    return campaign->reference != NULL ? keep_measures(campaign) : NULL;
}

static void campaign_deinit(struct campaign *campaign)
{
    pool_free(campaign->pool);
    for (unsigned i = 0; campaign->flights != NULL && i < campaign->flight_count; i++)
        if (campaign->flights[i].used)
            trial_job_deinit(&campaign->flights[i].job);
    free(campaign->flights);
    schedule_free(campaign->schedule);
    ledger_deinit(&campaign->ledger);
    reference_free(campaign->reference);
    shooting_free(campaign->shooting);
    for (size_t i = 0; i < campaign->switchable.count; i++)
        free(campaign->switchable.items[i]);
    ARRAY_DEINIT(&campaign->switchable);
    free(campaign->warnings);
}

// An interrupt or trouble leaves something to be gone on with; every other end was wished for.
static enum store_state end_state(const struct campaign *campaign)
{
    const char *reason = campaign->stopped_by;
    bool go_on = reason != NULL &&
                 (strcmp(reason, "interrupt") == 0 || strcmp(reason, "invalid trials") == 0);
    return go_on ? STORE_INTERRUPTED : STORE_FINISHED;
}

// A limit that is reached with the last trial there is stopped nothing.
static bool all_was_run(const struct campaign *campaign)
{
    uint64_t all = campaign->schedule != NULL ? schedule_planned(campaign->schedule) : 0;
    return all != 0 && campaign->ledger.trials >= all && interrupts(campaign) == 0;
}

static struct error *run_campaign(struct campaign *campaign, struct campaign_end *ret_end)
{
    campaign->ledger.started_ns = clock_ns();
    campaign->ledger.elapsed_before_s = campaign->row.elapsed_s;
    TRY(shooting_new(campaign->definition, campaign->injector, &campaign->shooting));
    TRY(prepare(campaign));
    if (campaign->reference == NULL)
        campaign->stopped_by = "interrupt";
    else
        TRY(run_trials(campaign));
    if (all_was_run(campaign))
        campaign->stopped_by = NULL;
    campaign->row.state = end_state(campaign);
    campaign->row.stopped_by = campaign->stopped_by;
    campaign->row.elapsed_s = ledger_elapsed(&campaign->ledger);
    TRY(store_update_campaign(campaign->store, &campaign->row));
    TRY(keep_measures(campaign));
    *ret_end = (struct campaign_end){
        .id = campaign->row.id,
        .state = campaign->row.state,
        .stopped_by = campaign->stopped_by,
        .findings = campaign->ledger.groups.items.count,
    };
    memcpy(ret_end->verdicts, campaign->ledger.verdicts, sizeof ret_end->verdicts);
    return NULL;
}

static struct error *find_injector(const char *name, const struct injector **ret_injector)
{
    *ret_injector = injector_find(name);
    return *ret_injector == NULL ? error_new("there is no injector '%s'", name) : NULL;
}

static struct error *add_row(struct campaign *campaign, const char *yaml)
{
    _cleanup_free_ char *command = NULL, *environment = NULL, *machine = NULL, *program = NULL;
    const struct definition *definition = campaign->definition;
    TRY(subject_command(definition, &command));
    TRY(subject_environment(definition, &environment));
    TRY(subject_machine(&machine));
    TRY(subject_program(definition, &program));
    campaign->row = (struct store_campaign){
        .name = definition->name,
        .injector = definition->injector,
        .definition = yaml,
        .command = command,
        .directory = definition->directory,
        .environment = environment,
        .version = ORDEAL_VERSION,
        .machine = machine,
        .program = program,
        .seed = definition->seed,
        .created_s = (int64_t)time(NULL),
        .state = STORE_RUNNING,
    };
    TRY(store_add_campaign(campaign->store, &campaign->row));
    // The rest of the row is not written again.
    campaign->row = (struct store_campaign){.id = campaign->row.id, .state = STORE_RUNNING};
    return NULL;
}

struct error *campaign_start(const struct definition *definition, struct store *store,
                             const struct campaign_control *control, struct campaign_end *ret_end)
{
    _cleanup_(definition_deinit) struct definition ours = {0};
    _cleanup_(buffer_deinit) struct buffer yaml = {0};
    TRY(definition_check(definition));
    TRY(definition_write(definition, &yaml));
    TRY(subject_definition(yaml.data, store_path(store), &ours));
    _cleanup_(campaign_deinit) struct campaign campaign = {
        .definition = &ours, .limits = &ours, .control = control, .store = store};
    TRY(find_injector(definition->injector, &campaign.injector));
    TRY(add_row(&campaign, yaml.data));
    return run_campaign(&campaign, ret_end);
}

struct search {
    int64_t id, limited; // limited: ended by a limit, which another one can take the place of
    const char *limit;
};

static const char *known_limit(const char *stopped_by)
{
    static const char *const limits[] = {"time budget", "max trials", "interval"};
    for (size_t i = 0; stopped_by != NULL && i < sizeof limits / sizeof *limits; i++)
        if (strcmp(stopped_by, limits[i]) == 0)
            return limits[i];
    return NULL;
}

static struct error *note_unfinished(void *data, const struct store_campaign *row)
{
    struct search *search = data;
    const char *limit = known_limit(row->stopped_by);
    if (row->state != STORE_FINISHED && row->id > search->id)
        search->id = row->id;
    if (row->state == STORE_FINISHED && limit != NULL && row->id > search->limited) {
        search->limited = row->id;
        search->limit = limit;
    }
    return NULL;
}

struct error *campaign_find_unfinished(struct store *store, int64_t id, bool new_limits,
                                       int64_t *ret_id)
{
    struct search search = {.id = id};
    if (id == 0)
        TRY(store_each_campaign(store, note_unfinished, &search));
    if (new_limits && search.limited > search.id)
        search.id = search.limited;
    if (search.id == 0 && search.limited != 0)
        return error_new("there is no unfinished campaign to go on with; campaign %lld ended by "
                         "its %s: say how long it may go on with --time-budget, --max-trials or "
                         "--until-interval",
                         (long long)search.limited, search.limit);
    if (search.id == 0)
        return error_new("there is no unfinished campaign to go on with");
    *ret_id = search.id;
    return NULL;
}

// The row of the campaign that is to go on, and its definition.
static struct error *find_campaign(struct store *store, int64_t id, bool new_limits,
                                   struct store_campaign *ret_row,
                                   struct definition *ret_definition)
{
    struct store_campaign row;
    TRY(campaign_find_unfinished(store, id, new_limits, &id));
    TRY(store_find_campaign(store, id, &row));
    struct error *error = subject_definition(row.definition, store_path(store), ret_definition);
    if (error != NULL) {
        store_campaign_deinit(&row);
        return error;
    }
    *ret_row = row;
    return NULL;
}

struct error *campaign_resume(struct store *store, int64_t id,
                              const struct campaign_control *control, struct campaign_end *ret_end)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(find_campaign(store, id, control->limits != NULL, &row, &definition));
    _cleanup_(campaign_deinit) struct campaign campaign = {
        .definition = &definition,
        .limits = control->limits != NULL ? control->limits : &definition,
        .control = control,
        .store = store,
        .row = row,
    };
    campaign.row.state = STORE_RUNNING;
    campaign.row.stopped_by = NULL; // its text is `row`'s
    TRY(find_injector(definition.injector, &campaign.injector));
    TRY(store_update_campaign(store, &campaign.row));
    return run_campaign(&campaign, ret_end);
}
