// SPDX-License-Identifier: GPL-3.0-or-later
// Groups trials with the same cause, chooses their example, and loads them from the store.
#include "campaign/finding.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/secrets.h"
#include "campaign/proof.h"
#include "store/spec.h"

#include <stdlib.h>
#include <string.h>

const char *finding_cause(const struct judgement *judgement, enum call_check check)
{
    if (check == CALL_CHECKED && judgement->handled != NULL)
        return judgement->handled;
    return judgement->cause != NULL ? judgement->cause : verdict_facts[judgement->verdict].name;
}

bool finding_shows(const struct judgement *judgement, const char *cause)
{
    return strcmp(finding_cause(judgement, CALL_UNCHECKED), cause) == 0 ||
           strcmp(finding_cause(judgement, CALL_CHECKED), cause) == 0;
}

void finding_groups_deinit(struct finding_groups *groups)
{
    for (size_t i = 0; i < groups->items.count; i++) {
        free(groups->items.items[i].cause);
        free(groups->items.items[i].spec);
        free(groups->items.items[i].whole);
        free(groups->items.items[i].library);
        for (unsigned j = 0; j < groups->items.items[i].spare_count; j++)
            free(groups->items.items[i].spares[j].spec);
    }
    ARRAY_DEINIT(&groups->items);
    map_deinit(&groups->by_cause);
}

struct sought_group {
    const struct finding_groups *groups;
    const char *cause;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought_group *sought = data;
    return strcmp(sought->groups->items.items[index].cause, sought->cause) == 0;
}

struct finding_group *finding_group_find(struct finding_groups *groups, const char *cause)
{
    const struct sought_group sought = {groups, cause};
    uint32_t index = map_find_equal(&groups->by_cause, hash_text(cause), is_equal, &sought);
    return index != MAP_NONE ? &groups->items.items[index] : NULL;
}

// Of some trials nobody knows whether the call is checked, as of those of other call paths. They
// join what is there.
struct finding_group *finding_group_of(struct finding_groups *groups,
                                       const struct judgement *judgement, enum call_check check)
{
    struct finding_group *group = finding_group_find(groups, finding_cause(judgement, check));
    if (group == NULL && check == CALL_CHECK_UNKNOWN)
        group = finding_group_find(groups, finding_cause(judgement, CALL_CHECKED));
    return group;
}

struct error *finding_group_add(struct finding_groups *groups, const char *cause,
                                struct finding_group **ret_group)
{
    char *copy = strdup(cause);
    struct finding_group *group = copy != NULL ? ARRAY_ADD(&groups->items) : NULL;
    if (group == NULL) {
        free(copy);
        return error_no_memory();
    }
    group->cause = copy;
    TRY(map_put(&groups->by_cause, hash_text(cause), (uint32_t)(groups->items.count - 1)));
    *ret_group = group;
    return NULL;
}

bool finding_is_worse(const struct finding_group *group, enum verdict verdict,
                      enum severity severity)
{
    if (severity == SEVERITY_NONE || severity > group->severity)
        return false;
    return severity < group->severity || verdict < group->verdict;
}

struct error *finding_add_spare(struct finding_group *group, const struct finding_spare *spare)
{
    if (group->spare_count + group->failures >= FINDING_SPARES)
        return NULL;
    struct finding_spare copy = *spare;
    copy.spec = strdup(spare->spec);
    if (copy.spec == NULL)
        return error_no_memory();
    group->spares[group->spare_count++] = copy;
    return NULL;
}

struct error *finding_take_part(struct finding_group *group)
{
    size_t size;
    const char *part = spec_part(group->whole, group->part++, &size);
    free(TAKE(group->spec));
    if (part == NULL || size == strlen(group->whole))
        return NULL;
    group->spec = strndup(part, size);
    return group->spec != NULL ? NULL : error_no_memory();
}

bool finding_use_spare(struct finding_group *group)
{
    group->repeats = 0;
    if (group->spare_count == 0)
        return false;
    const struct finding_spare *spare = &group->spares[--group->spare_count];
    free(group->spec);
    group->spec = spare->spec;
    group->trial = spare->trial;
    group->candidate = spare->candidate;
    group->seed = spare->seed;
    group->number = spare->number;
    group->activations = spare->activations;
    group->seconds = spare->seconds;
    group->basis = spare->basis;
    group->verdict = spare->verdict;
    group->severity = spare->severity;
    group->proof = proof_before(spare->basis);
    group->proof_tries = 0;
    free(TAKE(group->library));
    return true;
}

// Fewer activations are simpler: a transient fault fires once, a persistent one often. A little
// less time is chance; only half the time is a reason to change the example.
bool finding_is_simpler(const struct finding_group *group, const struct engine_result *result)
{
    uint64_t activations = result->observation.activations;
    if (activations != group->activations)
        return activations < group->activations;
    return result->seconds < group->seconds / 2;
}

bool finding_awaits_proof(const struct finding_group *group)
{
    return group->confirmed == STORE_CONFIRMED && group->proof == STORE_PROOF_UNPROVEN &&
           group->proof_tries == 0;
}

struct groups_load {
    struct finding_groups *groups;
    bool confirm;
};

static struct error *load_row(void *data, const struct store_finding *row)
{
    struct groups_load *load = data;
    struct finding_group *group = NULL;
    TRY(finding_group_add(load->groups, row->cause, &group));
    group->id = row->id;
    group->verdict = row->verdict;
    group->severity = row->severity;
    group->trial = row->trial;
    group->confirmed = row->confirmed;
    group->carried = row->carried != NULL;
    group->proof = row->proof;
    group->proof_tries = row->proof_tries;
    group->scope = row->scope;
    group->system = store_scope_of(row) == STORE_SCOPE_LIBRARY;
    // A mark for now. load_trial() reads the trial when the query for findings is finished.
    group->number = load->confirm && !group->carried &&
                    (row->confirmed == STORE_NOT_CONFIRMED || finding_awaits_proof(group));
    return NULL;
}

static struct error *load_trial(struct finding_group *group, struct store *store)
{
    struct store_trial trial = {0};
    struct store_candidate candidate = {0};
    TRY(store_find_trial(store, group->trial, &trial, &candidate));
    group->activations = trial.activations;
    group->seconds = trial.seconds;
    group->seed = trial.seed;
    group->candidate = trial.candidate;
    group->basis = candidate.basis;
    struct error *error = NULL;
    if (group->number != 0 && trial.spec != NULL) {
        group->spec = strdup(trial.spec);
        error = group->spec == NULL ? error_no_memory() : secrets_restore(&group->spec);
    }
    group->number = trial.number;
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    return error;
}

struct error *finding_groups_load(struct finding_groups *groups, struct store *store,
                                  int64_t campaign, bool confirm)
{
    struct groups_load load = {groups, confirm};
    TRY(store_each_finding(store, campaign, load_row, &load));
    for (size_t i = 0; i < groups->items.count; i++)
        TRY(load_trial(&groups->items.items[i], store));
    return NULL;
}
