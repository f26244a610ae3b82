// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the references, then chooses and stores candidates. References run in the controller itself,
// because its injector makes candidates from what it learns there (which calls there are).
#include "campaign/preparation.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/timeouts.h"
#include "campaign/ledger.h"
#include "campaign/preparation-network.h"
#include "campaign/selection.h"
#include "campaign/since-revision.h"
#include "campaign/since.h"
#include "campaign/subject.h"
#include "store/remark.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_STREAM (UINT64_MAX - 2) // of random numbers; trials use those from 1 on

static void freep_reference(struct reference **reference)
{
    reference_free(*reference);
}

static bool interrupted(const struct preparation *preparation)
{
    return preparation->control->interrupts != NULL && *preparation->control->interrupts > 0;
}

static void tell(const struct preparation *preparation, const char *phase, uint64_t done,
                 uint64_t planned)
{
    struct campaign_progress progress = {
        .phase = phase, .done = done, .planned = planned, .left_s = -1};
    if (preparation->control->progress != NULL)
        preparation->control->progress(preparation->control->data, &progress);
}

// Tells the user and stores the remark.
static struct error *warn_of(void *data, const struct store_remark *remark)
{
    struct preparation *preparation = data;
    struct store_remark row = *remark;
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    TRY(remark_put(&sentence, remark));
    if (preparation->control->warn != NULL)
        preparation->control->warn(preparation->control->data, sentence.data);
    row.campaign = preparation->campaign->id;
    return store_add_remark(preparation->store, &row);
}

static struct error *warn(struct preparation *preparation, const char *sentence)
{
    return warn_of(preparation, &(struct store_remark){.kind = REMARK_NOTE, .text = sentence});
}

// Spreads references over time. Runs within one second would write the same time into their files,
// but trials would not.
static void wait_until(const struct preparation *preparation, uint64_t moment_ns)
{
    while (clock_ns() < moment_ns && !interrupted(preparation))
        clock_sleep(REFERENCE_PAUSE_NS);
}

static void tell_lingering(void *data, const char *names)
{
    const struct preparation *preparation = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (preparation->control->warn == NULL ||
        buffer_printf(
            &text,
            "the command has ended, but processes remain: %s; a run takes until they have "
            "ended, too",
            names) != NULL)
        return;
    preparation->control->warn(preparation->control->data, text.data);
}

// How long a reference run may take: ten times the user's timeout for a trial, but at least
// REFERENCE_WAIT_NS. *ret_cut: the rest of the budget is shorter, and is the limit.
static uint64_t reference_limit_ns(const struct preparation *preparation, uint64_t start_ns,
                                   bool *ret_cut)
{
    uint64_t timeout_ns = preparation->definition->oracle.timeout_floor_ns * 10;
    uint64_t spent_ns = preparation->spent_ns + (clock_ns() - start_ns);
    if (timeout_ns < REFERENCE_WAIT_NS)
        timeout_ns = REFERENCE_WAIT_NS;
    *ret_cut = preparation->budget_ns != 0 && preparation->budget_ns < spent_ns + timeout_ns;
    if (!*ret_cut)
        return timeout_ns;
    return preparation->budget_ns > spent_ns ? preparation->budget_ns - spent_ns : 1;
}

static struct error *run_reference(struct preparation *preparation, uint32_t number,
                                   uint64_t timeout_ns, struct reference *reference)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    uint64_t start_ns = clock_ns();
    TRY(shooting_run(preparation->shooting, NULL,
                     trial_seed(preparation->definition->seed, REFERENCE_STREAM - number),
                     timeout_ns, &run));
    uint64_t took_ns = clock_ns() - start_ns;
    if (took_ns > preparation->longest_ns)
        preparation->longest_ns = took_ns;
    TRY(shooting_decode(preparation->shooting, &run, NULL));
    return reference_add(reference, &run);
}

#define CANDIDATES_MOST 1000000u // they take nearly a GiB, and a minute to store

struct candidate_list {
    ARRAY(struct candidate) items;
};

static struct error *add_candidate(void *data, struct candidate *candidate)
{
    struct candidate_list *list = data;
    if (list->items.count == CANDIDATES_MOST) {
        candidate_deinit(candidate);
        return error_new("there are more than %u candidates; choose faults of fewer functions, or "
                         "make places of calls the candidates instead of single calls (at: site, "
                         "at: stack), or sweep",
                         CANDIDATES_MOST);
    }
    struct candidate *item = ARRAY_ADD(&list->items);
    if (item == NULL) {
        candidate_deinit(candidate);
        return error_no_memory();
    }
    *item = *candidate;
    *candidate = (struct candidate){0};
    return NULL;
}

static void candidate_list_deinit(struct candidate_list *list)
{
    for (size_t i = 0; i < list->items.count; i++)
        candidate_deinit(&list->items.items[i]);
    ARRAY_DEINIT(&list->items);
}

// Deselects candidates that an earlier campaign tried in code that is still the same.
static struct error *carry_over(struct preparation *preparation, const struct candidate_list *list,
                                bool *chosen, struct since *since)
{
    const char *path = preparation->definition->selection.since;
    _cleanup_free_ char *sentence = NULL, *command = NULL;
    if (path == NULL)
        return NULL;
    TRY(subject_command(preparation->definition, &command));
    TRY(since_look(path, command, preparation->control->known, list->items.items, list->items.count,
                   since));
    for (size_t i = 0; i < since->carried.count; i++)
        chosen[i] = chosen[i] && since->carried.items[i] == 0;
    TRY(since_tell(since, path, list->items.count, &sentence));
    return sentence != NULL ? warn(preparation, sentence) : NULL;
}

// A sweep stores only the first position of each series now; see sweep.c. `rows` gets the ids.
static struct error *store_candidates(struct preparation *preparation,
                                      const struct candidate_list *list, const bool *chosen,
                                      const struct since *since, int64_t *rows)
{
    bool sweep = preparation->definition->selection.kind == SELECT_SWEEP;
    struct store_campaign *campaign = preparation->campaign;
    uint64_t number = 0, selected = 0;
    for (size_t i = 0; i < list->items.count; i++) {
        const struct candidate *candidate = &list->items.items[i];
        unsigned char carried = i < since->carried.count ? since->carried.items[i] : 0;
        if (sweep && !chosen[i] && carried == 0)
            continue;
        struct store_candidate row = candidate_row(candidate, campaign->id, ++number, chosen[i]);
        if (carried != 0)
            row.carried = verdict_facts[carried - 1].name;
        TRY(store_add_candidate(preparation->store, &row));
        rows[i] = row.id;
        selected += chosen[i];
    }
    campaign->candidates = number;
    bool known = !sweep && !preparation->definition->selection.until_activated;
    campaign->planned = known ? selected * preparation->definition->selection.repeat : 0;
    return NULL;
}

static struct error *leave_out_unchanged(struct preparation *preparation,
                                         const struct candidate_list *list, bool *chosen)
{
    const struct definition *definition = preparation->definition;
    _cleanup_free_ char *sentence = NULL;
    if (definition->selection.since_revision == NULL)
        return NULL;
    TRY(since_revision_choose(definition->directory, definition->selection.since_revision,
                              list->items.items, list->items.count, chosen, &sentence));
    return warn(preparation, sentence);
}

static struct error *choose_candidates(struct preparation *preparation)
{
    _cleanup_(candidate_list_deinit) struct candidate_list list = {0};
    TRY(preparation->injector->candidates(shooting_injector(preparation->shooting), add_candidate,
                                          &list));
    if (list.items.count == 0)
        TRY(warn(preparation, "the reference runs show nothing that could be injected into"));
    if (preparation->injector->remarks != NULL)
        TRY(preparation->injector->remarks(shooting_injector(preparation->shooting), warn_of,
                                           preparation));
    _cleanup_free_ bool *chosen = NULL;
    TRY(selection_choose(&preparation->definition->selection, preparation->definition->seed,
                         list.items.items, list.items.count, &chosen));
    TRY(leave_out_unchanged(preparation, &list, chosen));
    _cleanup_(since_deinit) struct since since = {0};
    TRY(carry_over(preparation, &list, chosen, &since));
    _cleanup_free_ int64_t *rows = calloc(list.items.count + 1, sizeof *rows);
    if (rows == NULL)
        return error_no_memory();
    TRY(store_candidates(preparation, &list, chosen, &since, rows));
    return since_copy_findings(&since, preparation->store, preparation->campaign->id,
                               list.items.items, rows);
}

static struct error *pass_remarks_on(struct preparation *preparation,
                                     const struct reference *reference)
{
    const struct sandbox *sandbox = shooting_sandbox(preparation->shooting);
    if (preparation->network_remark != NULL)
        TRY(warn(preparation, preparation->network_remark));
    for (size_t i = 0; i < sandbox_warning_count(sandbox); i++)
        TRY(warn(preparation, sandbox_warning(sandbox, i)));
    for (size_t i = 0; i < reference_remark_count(reference); i++) {
        const struct store_remark remark = reference_remark(reference, i);
        TRY(warn_of(preparation, &remark));
    }
    return NULL;
}

// A load whose exit status says nothing hides what the server does wrong.
static struct error *try_load(struct preparation *preparation, bool *ret_fails)
{
    const struct definition *definition = preparation->definition;
    *ret_fails = true;
    if (!definition_is_server(definition) || definition->service.load.count == 0)
        return NULL;
    return shooting_try_load(preparation->shooting, ret_fails);
}

static struct error *warn_of_load(struct preparation *preparation, bool fails)
{
    return fails ? NULL
                 : warn(preparation,
                        "the load ends with the expected exit status even if no server is there: "
                        "it can never fail, so what the server does wrong shows in its output "
                        "alone; begin it with 'set -e', use 'curl -f', and see SERVERS in "
                        "ordeal-campaign(5)");
}

static struct error *store_all(struct preparation *preparation, struct reference *reference)
{
    TRY(pass_remarks_on(preparation, reference));
    TRY(reference_save(reference, preparation->store, preparation->campaign->id));
    TRY(choose_candidates(preparation));
    TRY(network_save(preparation));
    return store_update_campaign(preparation->store, preparation->campaign);
}

// Each input has its own references.
static uint32_t reference_runs(const struct definition *definition)
{
    uint32_t inputs = inputs_count(&definition->inputs);
    return definition->oracle.references * (inputs != 0 ? inputs : 1);
}

#define WORTHWHILE 10 // a suggested budget has room for so many trials

// An error if the budget will leave no time for trials, so that the user learns it now.
// `last_at_ns` is when the last run may begin.
static struct error *check_budget(const struct preparation *preparation, uint64_t start_ns,
                                  uint64_t last_at_ns, uint32_t left)
{
    uint64_t now_ns = clock_ns(), longest_ns = preparation->longest_ns, need_ns = left * longest_ns;
    uint32_t count = reference_runs(preparation->definition);
    uint64_t spent_ns = preparation->spent_ns + (now_ns - start_ns);
    if (left > 0 && last_at_ns > now_ns && last_at_ns - now_ns + longest_ns > need_ns)
        need_ns = last_at_ns - now_ns + longest_ns;
    if (preparation->budget_ns == 0 || spent_ns + need_ns < preparation->budget_ns)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer enough = {0};
    TRY(duration_put_enough(&enough, spent_ns + need_ns + WORTHWHILE * longest_ns));
    bool one_will_do = left > 0 && spent_ns + longest_ns < preparation->budget_ns;
    return error_new(
        "a run without any fault takes %.3g s, and all %u of them %.3g s: %.3g s leave "
        "no time for a trial; try --time-budget %s%s",
        clock_seconds(longest_ns), count, clock_seconds(spent_ns + need_ns),
        clock_seconds(preparation->budget_ns), enough.data,
        one_will_do ? ", or --references 1" : "");
}

// Gives up after the first run that does not serve: others would take as long and say the same. The
// budget is blamed only if it cut the run short, not if the run failed by itself.
static struct error *give_up(const struct preparation *preparation, struct reference *reference,
                             uint64_t start_ns, bool cut)
{
    struct error *error = reference_settle(reference);
    uint64_t spent_ns = preparation->spent_ns + (clock_ns() - start_ns);
    if (error == NULL || error == error_no_memory() || !cut || spent_ns < preparation->budget_ns)
        return error;
    struct error *longer = error_new("%s; the time budget of %.3g s was over: --time-budget",
                                     error_message(error), clock_seconds(preparation->budget_ns));
    error_free(error);
    return longer;
}

static struct error *run_references(struct preparation *preparation, struct reference *reference)
{
    uint32_t count = reference_runs(preparation->definition);
    uint64_t start_ns = clock_ns(),
             last_at_ns = start_ns + preparation->definition->oracle.spread_ns;
    shooting_watch(preparation->shooting, preparation->control->interrupts, 0, tell_lingering,
                   preparation);
    network_try(preparation);
    for (uint32_t i = 0; i < count && !interrupted(preparation);) {
        bool cut, again;
        tell(preparation, "reference", i, count);
        if (i > 0 && i + 1 == count)
            wait_until(preparation, last_at_ns);
        uint64_t timeout_ns = reference_limit_ns(preparation, start_ns, &cut);
        TRY(shooting_set_input(preparation->shooting,
                               i / preparation->definition->oracle.references));
        TRY(run_reference(preparation, i, timeout_ns, reference));
        if (interrupted(preparation))
            break;
        TRY(network_decide(preparation, reference, &again));
        if (again)
            continue;
        if (!reference_is_fit(reference))
            return give_up(preparation, reference, start_ns, cut);
        const struct injector_learning *learning = preparation->injector->learning;
        if (learning != NULL && learning->learn != NULL)
            TRY(learning->learn(shooting_injector(preparation->shooting)));
        TRY(check_budget(preparation, start_ns, last_at_ns, count - ++i));
    }
    shooting_watch(preparation->shooting, preparation->control->interrupts, 0, NULL, NULL);
    if (interrupted(preparation))
        return NULL;
    TRY(reference_settle(reference));
    TRY(reference_check_status(reference));
    return reference_check_timeout(reference);
}

static struct error *survey(struct preparation *preparation)
{
    void *self = shooting_injector(preparation->shooting);
    uint32_t inputs = inputs_count(&preparation->definition->inputs);
    if (interrupted(preparation) || preparation->injector->survey == NULL ||
        !preparation->injector->survey(self))
        return NULL;
    for (uint32_t i = 0; (i == 0 || i < inputs) && !interrupted(preparation); i++) {
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        tell(preparation, "survey", i, inputs != 0 ? inputs : 1);
        TRY(shooting_set_input(preparation->shooting, i));
        TRY(shooting_run(preparation->shooting, NULL, preparation->definition->seed, SURVEY_WAIT_NS,
                         &run));
        if (run.workload.end == SANDBOX_TIMEOUT)
            return error_new("a run was not done after %.3g s, step by step",
                             clock_seconds(SURVEY_WAIT_NS));
    }
    return NULL;
}

struct error *preparation_run(struct preparation *preparation, struct reference **ret_reference)
{
    _cleanup_(freep_reference) struct reference *reference = NULL;
    TRY(reference_new(&preparation->definition->oracle, &reference));
    struct error *unfit = run_references(preparation, reference);
    if (unfit == NULL)
        unfit = survey(preparation);
    if (unfit != NULL) { // there is nothing to resume
        error_free(store_remove_campaign(preparation->store, preparation->campaign->id));
        return unfit;
    }
    if (interrupted(preparation))
        return NULL;
    bool load_fails;
    TRY(try_load(preparation, &load_fails)); // it takes a while, so not in a transaction
    tell(preparation, "candidates", 0, 0);
    TRY(store_begin(preparation->store));
    struct error *error = warn_of_load(preparation, load_fails);
    if (error == NULL)
        error = store_all(preparation, reference);
    if (error == NULL)
        error = store_commit(preparation->store);
    if (error != NULL) {
        store_rollback(preparation->store);
        return error;
    }
    // Give the memory of the candidates back. The controller, and every slot forked from it, would
    // keep it to the end otherwise.
    malloc_trim(0);
    *ret_reference = TAKE(reference);
    return NULL;
}

static struct error *note_reference(void *data, const struct store_reference *row)
{
    *(bool *)data = true;
    return NULL;
}

struct error *preparation_done(struct store *store, int64_t campaign, bool *ret_done)
{
    *ret_done = false;
    return store_each_reference(store, campaign, note_reference, ret_done);
}

struct changes {
    struct store *store;
    bool found;
};

static struct error *look_at_artifact(void *data, const struct store_artifact *row)
{
    struct changes *changes = data;
    changes->found |= row->kind != ARTIFACT_STREAM;
    return NULL;
}

static struct error *look_at_reference(void *data, const struct store_reference *row)
{
    struct changes *changes = data;
    return changes->found ? NULL
                          : store_each_artifact(changes->store, row->id, look_at_artifact, changes);
}

struct error *preparation_harmless(struct store *store, int64_t campaign,
                                   const struct definition *definition, bool *ret_harmless)
{
    struct changes changes = {.store = store};
    TRY(store_each_reference(store, campaign, look_at_reference, &changes));
    *ret_harmless = !changes.found && definition->oracle.compare_files;
    return NULL;
}
