// SPDX-License-Identifier: GPL-3.0-or-later
// Stores results in batches and groups failures into findings. Has new findings run again, to
// confirm them.
#include "campaign/ledger.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/secrets.h"
#include "base/timeouts.h"
#include "campaign/finding-explain.h"
#include "campaign/ledger-trial.h"
#include "campaign/proof.h"
#include "campaign/scope.h"

#include <stdlib.h>
#include <string.h>

static void count_verdict(struct ledger *ledger, enum verdict verdict, uint64_t times)
{
    ledger->verdicts[verdict] += times;
    ledger->trials += times;
    if (verdict_facts[verdict].counts)
        ledger->counted += times;
    if (verdict_facts[verdict].failure)
        ledger->failures += times;
}

static struct error *count_row(void *data, const struct store_count *row)
{
    for (int i = 0; i < VERDICTS; i++)
        count_verdict(data, i, row->verdicts[i]);
    return NULL;
}

// What earlier sessions spent on proofs counts, too.
static struct error *note_trial(void *data, const struct store_trial *row)
{
    struct ledger *ledger = data;
    ledger->proving += row->proving;
    bool counts = row->finding != 0 && (!row->confirmation || row->carried);
    for (size_t i = 0; counts && i < ledger->groups.items.count; i++) {
        struct finding_group *group = &ledger->groups.items.items[i];
        group->mixed |= group->id == row->finding && group->candidate != row->candidate;
    }
    return NULL;
}

static struct error *begin_proof(const struct ledger *ledger, struct finding_group *group)
{
    if (group->spec == NULL || !finding_awaits_proof(group))
        return NULL;
    _cleanup_free_ char *spec = TAKE(group->spec);
    return proof_begin(&ledger->options, group, spec);
}

struct error *ledger_init(struct ledger *ledger)
{
    TRY(store_each_count(ledger->store, ledger->campaign->id, NULL, count_row, ledger));
    TRY(finding_groups_load(&ledger->groups, ledger->store, ledger->campaign->id, ledger->confirm));
    if (ledger->groups.items.count == 0)
        return NULL;
    TRY(store_each_trial(ledger->store, ledger->campaign->id, true, note_trial, ledger));
    for (size_t i = 0; i < ledger->groups.items.count; i++)
        TRY(begin_proof(ledger, &ledger->groups.items.items[i]));
    return NULL;
}

void ledger_deinit(struct ledger *ledger)
{
    if (ledger->open)
        store_rollback(ledger->store);
    ledger->open = false;
    for (size_t i = 0; i < ledger->groups.items.count; i++)
        proof_drop(&ledger->options, &ledger->groups.items.items[i]);
    finding_groups_deinit(&ledger->groups);
    explainer_free(TAKE(ledger->explainer));
}

uint64_t ledger_sure_findings(const struct ledger *ledger)
{
    const struct definition *definition = ledger->options.definition;
    uint64_t count = 0;
    for (size_t i = 0; i < ledger->groups.items.count; i++) {
        const struct finding_group *group = &ledger->groups.items.items[i];
        bool repeated = !ledger->confirm || group->confirmed == STORE_CONFIRMED,
             possible =
                 group->proof != STORE_PROOF_UNPROVEN && group->proof != STORE_PROOF_IMPOSSIBLE,
             own = definition->scope == SCOPE_ALL ||
                   (group->scope == STORE_SCOPE_MINE && !group->system);
        count += verdict_facts[group->verdict].failure && repeated && possible && own;
    }
    return count;
}

double ledger_elapsed_s(const struct ledger *ledger)
{
    return ledger->elapsed_before_s + clock_seconds(clock_ns() - ledger->started_ns);
}

static struct error *open_transaction(struct ledger *ledger)
{
    if (ledger->open)
        return NULL;
    TRY(store_begin(ledger->store));
    ledger->open = true;
    ledger->commit_at_ns = clock_ns() + COMMIT_WAIT_NS;
    return NULL;
}

static struct error *update_campaign(struct ledger *ledger)
{
    uint64_t now_ns = clock_ns();
    if (now_ns < ledger->update_at_ns)
        return NULL;
    ledger->update_at_ns = now_ns + ELAPSED_PAUSE_NS;
    ledger->campaign->elapsed_s = ledger_elapsed_s(ledger);
    return store_update_campaign(ledger->store, ledger->campaign);
}

struct error *ledger_flush(struct ledger *ledger, bool now)
{
    if (!ledger->open || (!now && clock_ns() < ledger->commit_at_ns))
        return NULL;
    TRY(update_campaign(ledger));
    TRY(store_commit(ledger->store));
    ledger->open = false;
    return NULL;
}

uint64_t ledger_wait_ns(const struct ledger *ledger, uint64_t most_ns)
{
    uint64_t now_ns = clock_ns();
    if (!ledger->open)
        return most_ns;
    uint64_t left_ns = ledger->commit_at_ns > now_ns ? ledger->commit_at_ns - now_ns : 0;
    return left_ns < most_ns ? left_ns : most_ns;
}

static struct error *add_candidate(struct ledger *ledger, struct trial_job *job,
                                   const struct candidate *candidate)
{
    struct store_candidate row =
        candidate_row(candidate, ledger->campaign->id, job->candidate_number, true);
    TRY(store_add_candidate(ledger->store, &row));
    job->candidate = row.id;
    ledger->campaign->candidates++;
    return NULL;
}

// Whose code it is, and whether the blamed library is own.
static struct error *find_scope(const struct ledger *ledger, const struct engine_result *result,
                                enum store_scope *ret_scope, bool *ret_owns)
{
    const struct injection *injection =
        result->observation.injections.count != 0 ? &result->observation.injections.items[0] : NULL;
    const char *library = result->judgement.library;
    *ret_owns = false;
    *ret_scope = STORE_SCOPE_UNKNOWN;
    if (ledger->scope == NULL)
        return NULL;
    if (library != NULL)
        TRY(scope_owns(ledger->scope, injection, library, ret_owns));
    if (*ret_owns)
        *ret_scope = STORE_SCOPE_MINE;
    else if (injection != NULL)
        *ret_scope = scope_of(ledger->scope, injection);
    return NULL;
}

// Describes a finding by this trial and stores the row.
static struct error *
describe_and_store(struct ledger *ledger, struct finding_group *group, const struct trial_job *job,
                   const struct engine_result *result,
                   struct error *(*store)(struct ledger *, struct store_finding *))
{
    _cleanup_(finding_text_deinit) struct finding_text text = {0};
    TRY(finding_describe(&ledger->options, result, job->spec, job->seed, group->trial, &text));
    bool owns;
    TRY(find_scope(ledger, result, &group->scope, &owns));
    struct store_finding row = {
        .id = group->id,
        .campaign = ledger->campaign->id,
        .verdict = group->verdict,
        .cause = group->cause,
        .title = text.title,
        .site = text.site != NULL ? text.site : "",
        .file = text.file,
        .line = text.line,
        .stack = result->stack,
        .trial = group->trial,
        .trials = 1,
        .command = text.command,
        .confirmed = group->confirmed,
        .severity = group->severity,
        .proof = group->proof,
        .library = owns ? NULL : result->judgement.library, // the user's own is not the system's
        .scope = group->scope,
    };
    TRY(store(ledger, &row));
    group->id = row.id;
    group->system = store_scope_of(&row) == STORE_SCOPE_LIBRARY;
    return finding_explain(&ledger->explainer, ledger->store, group->id, result);
}

static struct error *store_new(struct ledger *ledger, struct store_finding *row)
{
    TRY(store_add_finding(ledger->store, row));
    if (ledger->control->found != NULL)
        ledger->control->found(ledger->control->data, row);
    return NULL;
}

static struct error *store_changed(struct ledger *ledger, struct store_finding *row)
{
    return store_update_finding(ledger->store, row);
}

// Makes this trial the finding's example. It must be confirmed anew: that another trial repeated
// says nothing about this one.
static struct error *take_example(struct ledger *ledger, struct finding_group *group,
                                  const struct trial_job *job, const struct engine_result *result,
                                  int64_t trial)
{
    proof_drop(&ledger->options, group);
    group->carried = false;
    group->basis = job->basis;
    group->verdict = result->judgement.verdict;
    group->severity = result->judgement.severity;
    group->proof = proof_before(job->basis);
    group->proof_tries = 0;
    free(TAKE(group->library));
    if (result->observation.injections.count != 0 &&
        result->observation.injections.items[0].library != NULL) {
        group->library = strdup(result->observation.injections.items[0].library);
        if (group->library == NULL)
            return error_no_memory();
    }
    group->trial = trial;
    group->activations = result->observation.activations;
    group->seconds = result->seconds;
    group->seed = job->seed;
    group->number = job->number;
    group->candidate = job->candidate;
    if (!ledger->confirm)
        return NULL;
    group->confirmed = STORE_NOT_CONFIRMED;
    group->repeats = 0;
    free(TAKE(group->whole));
    free(group->spec);
    group->spec = strdup(job->spec);
    return group->spec != NULL ? NULL : error_no_memory();
}

static struct error *new_finding(struct ledger *ledger, const struct trial_job *job,
                                 const struct engine_result *result, int64_t trial)
{
    struct finding_group *group;
    TRY(finding_group_add(&ledger->groups, finding_cause(&result->judgement, job->check), &group));
    TRY(take_example(ledger, group, job, result, trial));
    TRY(describe_and_store(ledger, group, job, result, store_new));
    return store_set_trial_finding(ledger->store, trial, group->id);
}

static struct error *keep_spare(struct finding_group *group, const struct trial_job *job,
                                const struct engine_result *result, int64_t trial)
{
    const struct finding_spare spare = {
        .trial = trial,
        .candidate = job->candidate,
        .seed = job->seed,
        .number = job->number,
        .activations = result->observation.activations,
        .seconds = result->seconds,
        .basis = job->basis,
        .verdict = result->judgement.verdict,
        .severity = result->judgement.severity,
        .spec = job->spec,
    };
    return finding_add_spare(group, &spare);
}

// The worse trial may not repeat. Then the example that did is the one to come back to.
static struct error *keep_example(struct ledger *ledger, struct finding_group *group)
{
    struct store_trial trial = {0};
    struct store_candidate candidate = {0};
    if (!ledger->confirm || group->confirmed != STORE_CONFIRMED || group->carried)
        return NULL;
    TRY(store_find_trial(ledger->store, group->trial, &trial, &candidate));
    const struct finding_spare spare = {
        .trial = group->trial,
        .candidate = group->candidate,
        .seed = group->seed,
        .number = group->number,
        .activations = group->activations,
        .seconds = group->seconds,
        .basis = group->basis,
        .verdict = group->verdict,
        .severity = group->severity,
        .spec = (char *)trial.spec,
    };
    if (group->spare_count == FINDING_SPARES)
        free(group->spares[--group->spare_count].spec);
    unsigned before = group->spare_count;
    struct error *error = finding_add_spare(group, &spare);
    if (error == NULL && group->spare_count != before)
        error = secrets_restore(&group->spares[group->spare_count - 1].spec);
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    return error;
}

static struct error *add_to_finding(struct ledger *ledger, struct finding_group *group,
                                    const struct trial_job *job, const struct engine_result *result,
                                    int64_t trial)
{
    struct store_finding row = {
        .campaign = ledger->campaign->id,
        .verdict = group->verdict,
        .cause = group->cause,
        .title = "", // the row exists already and keeps its texts
        .site = "",
        .trial = group->trial,
        .trials = 1,
        .command = "",
    };
    TRY(store_add_finding(ledger->store, &row));
    TRY(proof_note_candidate(ledger->store, group, job->candidate));
    // A fault that needs no proof, or has one, is better than one that needs it.
    bool surer = proof_before(group->basis) == STORE_PROOF_UNPROVEN &&
                 proof_before(job->basis) != STORE_PROOF_UNPROVEN,
         doubtful = proof_before(job->basis) == STORE_PROOF_UNPROVEN &&
                    (proof_before(group->basis) != STORE_PROOF_UNPROVEN ||
                     group->proof == STORE_PROOF_CAUSED);
    // One cause may do different harm. The worst is shown.
    bool worse = !doubtful &&
                 finding_is_worse(group, result->judgement.verdict, result->judgement.severity),
         milder = !worse && (result->judgement.severity != group->severity ||
                             result->judgement.verdict != group->verdict);
    bool next = group->carried || surer || worse ||
                (group->confirmed == STORE_FLAKY && group->failures <= FINDING_SPARES);
    // If candidates have an order, the first one is the example, whichever result arrives first.
    bool listed = ledger->options.definition->selection.order == ORDER_LISTED;
    bool simpler = listed ? job->number <= group->number : finding_is_simpler(group, result);
    if (!next && (doubtful || milder || !simpler))
        return ledger->confirm ? keep_spare(group, job, result, trial) : NULL;
    if (worse && !surer)
        TRY(keep_example(ledger, group));
    TRY(take_example(ledger, group, job, result, trial));
    return describe_and_store(ledger, group, job, result, store_changed);
}

struct error *ledger_keep(void *data, struct trial_job *job, const struct candidate *candidate,
                          struct engine_result *result)
{
    struct ledger *ledger = data;
    enum verdict verdict = result->judgement.verdict;
    TRY(open_transaction(ledger));
    if (candidate != NULL)
        TRY(add_candidate(ledger, job, candidate));
    bool found = verdict_facts[verdict].finding;
    struct finding_group *group =
        found ? finding_group_of(&ledger->groups, &result->judgement, job->check) : NULL;
    int64_t trial;
    TRY(ledger_add_trial(ledger, job, result, group != NULL ? group->id : 0, false, &trial));
    if (found)
        TRY(group != NULL ? add_to_finding(ledger, group, job, result, trial)
                          : new_finding(ledger, job, result, trial));
    count_verdict(ledger, verdict, 1);
    ledger->invalid_in_row = verdict == VERDICT_INVALID ? ledger->invalid_in_row + 1 : 0;
    return NULL;
}

// Proofs may take at most so many trials, besides a few in any case.
#define PROOF_SHARE 0.3
#define PROOFS_FREE 20

static bool may_prove(const struct ledger *ledger)
{
    return (double)ledger->proving < PROOFS_FREE + PROOF_SHARE * (double)ledger->trials;
}

struct finding_group *ledger_unconfirmed(struct ledger *ledger, size_t *ret_index)
{
    for (size_t i = 0; i < ledger->groups.items.count; i++) {
        struct finding_group *group = &ledger->groups.items.items[i];
        if (group->spec == NULL || group->confirming ||
            (group->prover != NULL && !may_prove(ledger)))
            continue;
        ledger->proving += group->prover != NULL;
        group->confirming = true;
        *ret_index = i;
        return group;
    }
    return NULL;
}

static bool shows(const struct finding_group *group, const struct engine_result *result)
{
    return verdict_facts[result->judgement.verdict].finding &&
           finding_shows(&result->judgement, group->cause);
}

// Whether a confirmation shows the same as the trial. A hang may have another cause: when processes
// wait for each other, it is chance whose stack is seen.
static bool is_repeated(const struct finding_group *group, const struct engine_result *result)
{
    return shows(group, result) ||
           (group->verdict == VERDICT_HANG && result->judgement.verdict == VERDICT_HANG);
}

// The result of one fault alone. If it shows the finding, it is the better example.
static struct error *try_alone(struct ledger *ledger, struct finding_group *group,
                               const struct trial_job *job, const struct engine_result *result,
                               int64_t trial)
{
    if (!shows(group, result))
        return finding_take_part(group);
    free(TAKE(group->spec));
    free(TAKE(group->whole));
    group->verdict = result->judgement.verdict;
    group->severity = result->judgement.severity;
    group->trial = trial;
    group->activations = result->observation.activations;
    return describe_and_store(ledger, group, job, result, store_changed);
}

// What a repetition does not show is not confirmed. The milder run is the example then.
static bool take_milder(struct finding_group *group, const struct engine_result *result,
                        int64_t trial)
{
    const struct finding_group shown = {.verdict = result->judgement.verdict,
                                        .severity = result->judgement.severity};
    if (shown.severity == SEVERITY_NONE ||
        !finding_is_worse(&shown, group->verdict, group->severity))
        return false;
    group->verdict = shown.verdict;
    group->severity = shown.severity;
    group->trial = trial;
    return true;
}

static struct error *end_confirmation(struct ledger *ledger, struct finding_group *group,
                                      const struct trial_job *job, struct engine_result *result,
                                      int64_t trial)
{
    bool repeated = is_repeated(group, result);
    group->repeats += repeated;
    if (repeated && take_milder(group, result, trial))
        TRY(describe_and_store(ledger, group, job, result, store_changed));
    if (repeated && group->repeats < FINDING_REPEATS)
        return NULL; // once more
    free(TAKE(group->spec));
    group->failures += !repeated;
    if (!repeated && finding_use_spare(group))
        return NULL;
    group->confirmed = repeated ? STORE_CONFIRMED : STORE_FLAKY;
    if (repeated && group->failures != 0) // a spare is the example now
        TRY(describe_and_store(ledger, group, job, result, store_changed));
    else
        TRY(store_confirm_finding(ledger->store, group->id, group->confirmed));
    if (!repeated)
        return NULL;
    group->part = 0;
    group->whole = strdup(job->spec);
    if (group->whole == NULL)
        return error_no_memory();
    TRY(finding_take_part(group));
    return group->spec == NULL ? proof_begin(&ledger->options, group, job->spec) : NULL;
}

// Without the fault the run differed likewise: the trial tested nothing, and is part of no share.
static struct error *take_back(struct ledger *ledger, const struct trial_job *job,
                               const struct engine_result *result)
{
    struct store_count before = {0};
    TRY(store_invalidate_trials(ledger->store, ledger->campaign->id, job->number,
                                result->judgement.reason, &before));
    for (int i = 0; i < VERDICTS; i++) {
        ledger->verdicts[i] -= before.verdicts[i];
        ledger->trials -= before.verdicts[i];
        ledger->counted -= verdict_facts[i].counts ? before.verdicts[i] : 0;
        ledger->failures -= verdict_facts[i].failure ? before.verdicts[i] : 0;
        count_verdict(ledger, VERDICT_INVALID, before.verdicts[i]);
    }
    return NULL;
}

struct error *ledger_confirm(struct ledger *ledger, size_t index, const struct trial_job *job,
                             struct engine_result *result)
{
    struct finding_group *group = &ledger->groups.items.items[index];
    bool outdated = job->number != group->number; // a simpler example was found meanwhile
    // What does not show the finding does not belong to it.
    bool proves = job->proving && !is_repeated(group, result);
    group->confirming = false;
    bool by_chance = result->judgement.by_chance;
    if (result->judgement.verdict == VERDICT_INVALID && !by_chance) {
        if (!outdated) {
            proof_drop(&ledger->options, group);
            free(TAKE(group->spec));
        }
        return NULL; // it says nothing; a resumed campaign may try again
    }
    TRY(open_transaction(ledger));
    int64_t trial;
    TRY(ledger_add_trial(ledger, job, result, proves ? 0 : group->id, true, &trial));
    // Of two faults that were tried alone, nothing is known about both.
    if (by_chance && group->whole == NULL)
        TRY(take_back(ledger, job, result));
    if (outdated)
        return NULL;
    if (group->prover != NULL)
        return proof_take(&ledger->options, ledger->store, group, result, trial,
                          is_repeated(group, result));
    return group->whole != NULL ? try_alone(ledger, group, job, result, trial)
                                : end_confirmation(ledger, group, job, result, trial);
}
