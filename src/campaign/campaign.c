// SPDX-License-Identifier: GPL-3.0-or-later
// Starts and resumes campaigns: adds the row, prepares, starts the engine, runs the trials, and
// stores how it ended.
#include "campaign/campaign-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "campaign/finding-join.h"
#include "campaign/preparation.h"
#include "campaign/scope.h"
#include "campaign/second-faults.h"
#include "campaign/since.h"
#include "campaign/subject.h"
#include "campaign/switchable.h"
#include "injector/parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORK_AHEAD_S 0.05 // only shorter trials are queued in a busy slot

int campaign_interrupts(const struct campaign *campaign)
{
    return campaign->control->interrupts != NULL ? *campaign->control->interrupts : 0;
}

struct error *campaign_remark(struct campaign *campaign, const char *sentence)
{
    struct store_remark row = {.campaign = campaign->row.id, .kind = REMARK_NOTE, .text = sentence};
    return store_add_remark(campaign->store, &row);
}

struct remark_search {
    const char *sentence;
    bool found;
};

static struct error *look_at_remark(void *data, const struct store_remark *row)
{
    struct remark_search *search = data;
    search->found |= row->kind == REMARK_NOTE && strcmp(row->text, search->sentence) == 0;
    return NULL;
}

struct error *campaign_warn(struct campaign *campaign, const char *sentence)
{
    struct remark_search search = {.sentence = sentence};
    TRY(store_each_remark(campaign->store, campaign->row.id, look_at_remark, &search));
    if (search.found)
        return NULL;
    TRY(campaign_remark(campaign, sentence));
    if (campaign->control->warn != NULL)
        campaign->control->warn(campaign->control->data, sentence);
    return NULL;
}

struct error *campaign_load_schedule(struct campaign *campaign)
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

static unsigned wanted_jobs(const struct campaign *campaign)
{
    unsigned jobs = campaign->control->jobs;
    if (jobs == 0)
        jobs = campaign->definition->jobs;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs == 0 && campaign->engine->elsewhere)
        return 0;
    if (jobs == 0)
        jobs = processors > 0 ? (unsigned)processors : 1;
    return jobs < 1024 ? jobs : 1024;
}

// Servers that share a network would take each other's ports.
static struct error *job_count(struct campaign *campaign, unsigned *ret_jobs)
{
    *ret_jobs = wanted_jobs(campaign);
    if (*ret_jobs == 1 || !definition_is_server(campaign->definition) ||
        shooting_is_apart(campaign->shooting))
        return NULL;
    *ret_jobs = 1;
    return campaign_warn(campaign,
                         "trials run one at a time: their servers have no network of their "
                         "own, and would take each other's ports");
}

// How long a slot may take before it counts as stuck. This is longer than all timeouts of its
// steps: a posttest that hangs is a finding, and must not be lost as a trial that could not be run.
static uint64_t stuck_after_ns(const struct campaign *campaign)
{
    uint64_t known_ns = campaign->longest_reference_ns;
    uint64_t steps_ns = SHOOTING_OTHER_STEPS * STEP_OTHER_WAIT_NS + STEP_BUILD_WAIT_NS;
    return (known_ns != 0 ? known_ns * 10 + SLOT_MARGIN_WAIT_NS : SLOT_WAIT_NS) + steps_ns +
           5 * reference_timeout_ns(campaign->reference) + campaign->definition->service.grace_ns;
}

// A slot may get its next job early only if the choice of that job does not depend on results, and
// if trials are so short that waiting for a job would cost time.
static bool may_work_ahead(const struct campaign *campaign)
{
    const struct definition *definition = campaign->definition;
    return definition->selection.kind != SELECT_SWEEP && !definition_is_server(definition) &&
           campaign->limits->until_interval <= 0 &&
           reference_seconds(campaign->reference)->mean < WORK_AHEAD_S;
}

static struct error *pass_warning_on(void *data, const char *sentence)
{
    return campaign_warn(data, sentence);
}

static void pass_note_on(void *data, const char *text)
{
    const struct campaign *campaign = data;
    if (campaign->control->note != NULL)
        campaign->control->note(campaign->control->data, text);
}

// The directory of this campaign that all machines share. It is found again when the campaign is
// resumed: it is named after the store's file and the campaign.
static struct error *shared_directory(const struct campaign *campaign,
                                      const struct store_campaign *row, char **ret_path)
{
    const char *directory = campaign->definition->cluster.directory;
    const char *path = store_path(campaign->store);
    _cleanup_free_ char *whole = realpath(path, NULL);
    struct stat status;
    if (whole == NULL || stat(whole, &status) < 0)
        return error_from_errno(errno, "%s", path);
    // The time tells it from a campaign of a store that was deleted, whose file had the same
    // number.
    if (asprintf(ret_path, "%s%s/ordeal-%llx-%llx-%lld-%llx", directory != NULL ? directory : whole,
                 directory != NULL ? "" : "-shared", (unsigned long long)status.st_dev,
                 (unsigned long long)status.st_ino, (long long)row->id,
                 (unsigned long long)row->created_s) < 0)
        return *ret_path = NULL, error_no_memory();
    return NULL;
}

static struct error *start_workers(struct campaign *campaign, unsigned jobs)
{
    _cleanup_free_ char *shared = NULL;
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    if (campaign->engine->elsewhere) {
        TRY(store_find_campaign(campaign->store, campaign->row.id, &row));
        TRY(shared_directory(campaign, &row, &shared));
    }
    const struct engine_options options = {
        .task = {.definition = campaign->definition,
                 .injector = campaign->injector,
                 .leader = shooting_injector(campaign->shooting),
                 .reference = campaign->reference,
                 .switchable = campaign->switchable.count != 0 ? &campaign->switchable : NULL},
        .workers = jobs,
        .stuck_ns = stuck_after_ns(campaign),
        .ahead = may_work_ahead(campaign),
        .stored_definition = row.definition,
        .shared = shared,
        .warn = pass_warning_on,
        .note = pass_note_on,
        .data = campaign,
    };
    return campaign->engine->start(&options, &campaign->workers);
}

static struct error *find_scope(struct campaign *campaign)
{
    const char *unmatched;
    TRY(scope_new(campaign->definition, campaign->store, campaign->row.id, &campaign->scope,
                  &unmatched));
    campaign->ledger.scope = campaign->scope;
    if (unmatched == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "--mine '%s' matches no program and no module that was tested",
                      unmatched));
    return campaign_warn(campaign, text.data);
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
    TRY(find_scope(campaign));
    TRY(ledger_init(&campaign->ledger));
    campaign->trials_before = campaign->ledger.trials;
    TRY(campaign_load_schedule(campaign));
    TRY(second_faults_due(campaign->injector, shooting_injector(campaign->shooting),
                          campaign->store, campaign->row.id, &campaign->second_faults_pending));
    campaign->half_time_s =
        (ledger_elapsed_s(&campaign->ledger) + clock_seconds(campaign->limits->time_budget_ns)) / 2;
    unsigned jobs;
    TRY(job_count(campaign, &jobs));
    campaign->forks = fork_policy(campaign->definition, campaign->injector,
                                  shooting_injector(campaign->shooting), campaign->reference);
    if (campaign->definition->service.long_lived)
        TRY(switchable_find(campaign->injector->switches, campaign->store, campaign->row.id,
                            &campaign->switchable));
    TRY(start_workers(campaign, jobs));
    return campaign_loop(campaign);
}

// Says whether values that the store does not have are as they were when the campaign began.
static struct error *compare_environment(struct campaign *campaign)
{
    _cleanup_(environment_comparison_deinit) struct environment_comparison comparison = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(environment_compare(campaign->store, &campaign->row, campaign->definition, &comparison));
    TRY(buffer_printf(&text, "the environment, compared with when the campaign began: "));
    TRY(environment_put(&text, &comparison));
    if (!environment_is_same(&comparison))
        return campaign_warn(campaign, text.data);
    if (campaign->control->note != NULL)
        campaign->control->note(campaign->control->data, text.data);
    return NULL;
}

// The definition's author may not know that values in it are stored.
static struct error *warn_of_unmarked(struct campaign *campaign,
                                      const struct definition *definition)
{
    const char *name = definition_unmarked_secret(definition);
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (name == NULL)
        return NULL;
    TRY(buffer_printf(&text,
                      "the definition sets %s, and the store has its value; if that is a secret: "
                      "--secret %s",
                      name, name));
    return campaign_warn(campaign, text.data);
}

// Warns if the program has changed. The campaign then has trials of two programs, and readers of
// the report must know.
static struct error *compare_program(struct campaign *campaign)
{
    _cleanup_free_ char *program = NULL;
    _cleanup_(subject_change_deinit) struct subject_change change = {0};
    TRY(subject_program(campaign->definition, &program));
    TRY(subject_program_compare(campaign->row.program, program, &change));
    if (change.sentence == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "%s: trials from before and after are in one campaign",
                      change.sentence));
    return campaign_warn(campaign, text.data);
}

// Stores what the injector measured. Must not be called in a transaction: save() opens its own.
static struct error *keep_measures(struct campaign *campaign)
{
    const struct injector_learning *learning = campaign->injector->learning;
    if (learning == NULL || learning->save == NULL)
        return NULL;
    return learning->save(shooting_injector(campaign->shooting), campaign->store, campaign->row.id);
}

static struct error *prepare(struct campaign *campaign)
{
    bool done;
    TRY(preparation_done(campaign->store, campaign->row.id, &done));
    if (done)
        TRY(compare_program(campaign));
    const struct injector_learning *learning = campaign->injector->learning;
    if (done && learning != NULL && learning->load != NULL)
        TRY(learning->load(shooting_injector(campaign->shooting), campaign->store,
                           campaign->row.id));
    if (done)
        return reference_load(&campaign->definition->oracle,
                              inputs_count(&campaign->definition->inputs), campaign->store,
                              campaign->row.id, &campaign->reference);
    struct preparation preparation = {
        .definition = campaign->definition,
        .injector = campaign->injector,
        .shooting = campaign->shooting,
        .store = campaign->store,
        .control = campaign->control,
        .campaign = &campaign->row,
        .budget_ns = campaign->limits->time_budget_ns,
        .spent_ns = (uint64_t)(ledger_elapsed_s(&campaign->ledger) * (double)NS_PER_S),
    };
    struct error *error = preparation_run(&preparation, &campaign->reference);
    free(preparation.network_remark);
    TRY(error);
    campaign->longest_reference_ns = preparation.longest_ns;
    return campaign->reference != NULL ? keep_measures(campaign) : NULL;
}

static void campaign_deinit(struct campaign *campaign)
{
    if (campaign->workers != NULL)
        campaign->engine->end(campaign->workers);
    for (size_t i = 0; i < campaign->running_jobs.count; i++)
        if (campaign->running_jobs.items[i].used)
            trial_job_deinit(&campaign->running_jobs.items[i].job);
    ARRAY_DEINIT(&campaign->running_jobs);
    ARRAY_DEINIT(&campaign->free_tags);
    schedule_free(campaign->schedule);
    ledger_deinit(&campaign->ledger);
    scope_free(campaign->scope);
    reference_free(campaign->reference);
    shooting_free(campaign->shooting);
    words_deinit(&campaign->switchable);
}

// After these the campaign can be resumed. Every other end is final.
static enum store_state end_state(const struct campaign *campaign)
{
    bool go_on = campaign->stopped_by == STORE_STOP_INTERRUPT ||
                 campaign->stopped_by == STORE_STOP_INVALID ||
                 campaign->stopped_by == STORE_STOP_SLOTS;
    return go_on ? STORE_INTERRUPTED : STORE_FINISHED;
}

// A limit that is reached with the very last trial did not stop anything.
static bool all_was_run(const struct campaign *campaign)
{
    uint64_t all = campaign->schedule != NULL ? schedule_planned(campaign->schedule) : 0;
    return all != 0 && campaign->ledger.trials >= all && campaign_interrupts(campaign) == 0;
}

static struct error *run_campaign(struct campaign *campaign, struct campaign_end *ret_end)
{
    campaign->ledger.started_ns = clock_ns();
    campaign->ledger.elapsed_before_s = campaign->row.elapsed_s;
    TRY(shooting_new(campaign->definition, campaign->injector, &campaign->shooting));
    TRY(prepare(campaign));
    if (campaign->reference == NULL)
        campaign->stopped_by = STORE_STOP_INTERRUPT;
    else
        TRY(run_trials(campaign));
    if (campaign->reference != NULL)
        TRY(finding_join(campaign->store, campaign->row.id));
    if (all_was_run(campaign))
        campaign->stopped_by = STORE_STOP_NONE;
    campaign->row.state = end_state(campaign);
    campaign->row.stopped_by = campaign->stopped_by;
    campaign->row.elapsed_s = ledger_elapsed_s(&campaign->ledger);
    TRY(store_update_campaign(campaign->store, &campaign->row));
    TRY(keep_measures(campaign));
    *ret_end = (struct campaign_end){
        .id = campaign->row.id,
        .state = campaign->row.state,
        .stopped_by = campaign->stopped_by,
        .findings = campaign->ledger.groups.items.count,
    };
    TRY(since_count(campaign->store, campaign->row.id, ret_end->verdicts));
    for (int i = 0; i < VERDICTS; i++)
        ret_end->verdicts[i] += campaign->ledger.verdicts[i];
    return NULL;
}

static struct error *find_injector(const char *name, const struct injector **ret_injector)
{
    *ret_injector = injector_find(name);
    return *ret_injector == NULL ? error_new("there is no injector '%s'", name) : NULL;
}

// Whether the injector chooses the faults itself, as for `ordeal test`.
static bool is_automatic(const struct injector *injector, const struct definition *definition)
{
    const struct injector_setting *setting = injector->test_settings;
    for (; setting != NULL && setting->parameter != NULL; setting++) {
        const struct words *given = parameters_words(&definition->parameters, setting->parameter);
        if (given == NULL || given->count != 1 || strcmp(given->items[0], setting->value) != 0)
            return false;
    }
    return setting != NULL;
}

// Copies into the row what reports need to know about the definition.
static void fill_facts(const struct injector *injector, const struct definition *definition,
                       struct store_campaign *row)
{
    static const enum store_selection selections[] = {[SELECT_ALL] = STORE_SELECT_ALL,
                                                      [SELECT_SAMPLE] = STORE_SELECT_SAMPLE,
                                                      [SELECT_SWEEP] = STORE_SELECT_SWEEP};
    const struct oracle *oracle = &definition->oracle;
    row->automatic = is_automatic(injector, definition);
    row->selection = selections[definition->selection.kind];
    row->per = definition->selection.per;
    row->weighted = definition->selection.weights_file != NULL;
    row->listed = definition->selection.order == ORDER_LISTED;
    row->changes_only =
        definition->selection.since != NULL || definition->selection.since_revision != NULL;
    row->long_lived = definition_is_server(definition) && definition->service.long_lived;
    row->filtered = oracle->filters.count != 0 || oracle->ignored.count != 0 ||
                    !oracle->compare_stdout || oracle->compare_stderr || !oracle->compare_files;
}

static struct error *store_row(struct campaign *campaign, const struct definition *definition,
                               const struct environment_key *key)
{
    TRY(store_begin(campaign->store));
    struct error *error = store_add_campaign(campaign->store, &campaign->row);
    if (error == NULL)
        error = environment_store(campaign->store, campaign->row.id, definition, key);
    if (error == NULL)
        return store_commit(campaign->store);
    store_rollback(campaign->store);
    return error;
}

// `definition` is the user's; the campaign's own leaves out more when it compares.
static struct error *add_row(struct campaign *campaign, const struct definition *definition,
                             const char *yaml)
{
    _cleanup_free_ char *command = NULL, *machine = NULL, *program = NULL;
    struct environment_key key = {0};
    TRY(subject_command(definition, &command));
    _cleanup_error_ struct error *refused = environment_key_load(true, &key);
    if (refused == error_no_memory())
        return refused;
    TRY(subject_machine(&machine));
    TRY(subject_program(definition, &program));
    campaign->row = (struct store_campaign){
        .name = definition->name,
        .injector = definition->injector,
        .definition = yaml,
        .command = command,
        .directory = definition->directory,
        .environment_key = key.known ? key.id : NULL,
        .version = ORDEAL_VERSION,
        .machine = machine,
        .program = program,
        .settings = definition->origin,
        .seed = definition->seed,
        .created_s = (int64_t)time(NULL),
        .state = STORE_RUNNING,
    };
    fill_facts(campaign->injector, definition, &campaign->row);
    TRY(store_row(campaign, definition, &key));
    // The rest of the row is not written again.
    campaign->row = (struct store_campaign){.id = campaign->row.id, .state = STORE_RUNNING};
    return refused != NULL ? campaign_warn(campaign, error_message(refused)) : NULL;
}

struct error *campaign_start(const struct definition *definition, struct store *store,
                             const struct campaign_control *control, struct campaign_end *ret_end)
{
    _cleanup_(definition_deinit) struct definition ours = {0};
    _cleanup_(buffer_deinit) struct buffer whole = {0}, stored = {0};
    TRY(definition_check(definition));
    TRY(definition_learn_secrets(definition));
    TRY(definition_write(definition, &whole));
    TRY(definition_write_stored(definition, &stored));
    TRY(subject_definition(whole.data, store_path(store), &ours));
    _cleanup_(campaign_deinit) struct campaign campaign = {
        .definition = &ours, .limits = &ours, .control = control, .store = store};
    TRY(find_injector(definition->injector, &campaign.injector));
    TRY(engine_named(definition->engine, &campaign.engine));
    TRY(add_row(&campaign, definition, stored.data));
    TRY(warn_of_unmarked(&campaign, definition));
    struct error *error = run_campaign(&campaign, ret_end);
    if (error != NULL && campaign.shooting == NULL) // there is nothing to resume
        error_free(store_remove_campaign(store, campaign.row.id));
    return error;
}

// Finds the campaign to resume, and reads its definition.
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
    campaign.row.stopped_by = STORE_STOP_NONE;
    TRY(find_injector(definition.injector, &campaign.injector));
    TRY(engine_named(definition.engine, &campaign.engine));
    TRY(store_update_campaign(store, &campaign.row));
    TRY(compare_environment(&campaign));
    return run_campaign(&campaign, ret_end);
}
