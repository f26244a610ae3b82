// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a proof: has the trials run that the injector asks for, one after the other, and stores what
// it makes of them.
#include "campaign/proof.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum store_proof proof_before(enum store_basis basis)
{
    static const enum store_proof proofs[STORE_BASES] = {
        [STORE_BASIS_SYSTEM] = STORE_PROOF_CERTAIN,
        [STORE_BASIS_CALLS] = STORE_PROOF_UNPROVEN,
        [STORE_BASIS_INPUT] = STORE_PROOF_UNPROVEN,
    };
    return proofs[basis];
}

void proof_drop(const struct finding_options *options, struct finding_group *group)
{
    if (group->prover == NULL)
        return;
    options->injector->proof->end(group->prover);
    group->prover = NULL;
    free(TAKE(group->spec));
}

static struct error *next(const struct finding_options *options, struct finding_group *group)
{
    free(TAKE(group->spec));
    return options->injector->proof->next(group->prover, &group->spec);
}

struct error *proof_begin(const struct finding_options *options, struct finding_group *group,
                          const char *spec)
{
    const struct proof_subject subject = {
        .spec = spec, .library = group->library, .basis = group->basis};
    if (options->injector->proof == NULL || proof_before(group->basis) != STORE_PROOF_UNPROVEN)
        return NULL;
    TRY(options->injector->proof->begin(&subject, &group->prover));
    TRY(next(options, group));
    if (group->spec == NULL)
        proof_drop(options, group);
    return NULL;
}

static struct proof_result result_of(const struct finding_options *options,
                                     const struct finding_group *group)
{
    struct proof_result result = options->injector->proof->result(group->prover);
    if (result.proof == STORE_PROOF_IMPOSSIBLE && group->mixed)
        result.proof = STORE_PROOF_UNPROVEN;
    return result;
}

static struct error *store_result(const struct finding_options *options, struct store *store,
                                  const struct finding_group *group, struct engine_result *result,
                                  const char *spec, int64_t trial)
{
    _cleanup_(finding_text_deinit) struct finding_text text = {0};
    const struct proof_result proof = result_of(options, group);
    bool caused = proof.proof == STORE_PROOF_CAUSED;
    // What causes the fault is the better way to show the finding.
    if (caused)
        TRY(finding_describe(options, result, spec, group->seed, trial, &text));
    const struct store_finding row = {
        .id = group->id,
        .cause = "",
        .title = "",
        .site = "",
        .command = caused ? text.command : "",
        .proof = proof.proof,
        .proof_tries = proof.tries,
        .proof_trial = caused ? trial : 0,
        .proof_call = proof.call,
        .proof_error = proof.error,
        .proof_caller = proof.caller,
        .proof_result = proof.returned,
        .proof_lasting = proof.lasting,
    };
    return store_prove_finding(store, &row);
}

struct error *proof_take(const struct finding_options *options, struct store *store,
                         struct finding_group *group, struct engine_result *result, int64_t trial,
                         bool shows)
{
    _cleanup_free_ char *spec = TAKE(group->spec);
    TRY(options->injector->proof->take(group->prover, &result->observation, shows));
    TRY(next(options, group));
    if (group->spec != NULL)
        return NULL;
    TRY(store_result(options, store, group, result, spec, trial));
    const struct proof_result proof = result_of(options, group);
    group->proof = proof.proof;
    group->proof_tries = proof.tries;
    proof_drop(options, group);
    return NULL;
}

struct error *proof_note_candidate(struct store *store, struct finding_group *group,
                                   int64_t candidate)
{
    group->mixed |= group->carried || candidate != group->candidate;
    if (!group->mixed || group->proof != STORE_PROOF_IMPOSSIBLE)
        return NULL;
    group->proof = STORE_PROOF_UNPROVEN;
    const struct store_finding row = {
        .id = group->id,
        .cause = "",
        .title = "",
        .site = "",
        .command = "",
        .proof = group->proof,
        .proof_tries = group->proof_tries,
    };
    return store_prove_finding(store, &row);
}
