// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out whether the fault of a finding can happen, by further trials that the injector asks
// for.
#ifndef ORDEAL_CAMPAIGN_PROOF_H
#define ORDEAL_CAMPAIGN_PROOF_H

#include "campaign/finding.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "store/store.h"

// What is said of a finding before anything was tried.
enum store_proof proof_before(enum store_basis basis);

// Begins with a confirmed finding whose example has this spec. Sets group->prover and group->spec,
// unless there is nothing to try.
_must_check_ struct error *proof_begin(const struct finding_options *options,
                                       struct finding_group *group, const char *spec);
// Forgets what was begun: the finding has another example.
void proof_drop(const struct finding_options *options, struct finding_group *group);
// Takes the result of the trial `trial`, which had group->spec. `shows`: the finding. Stores the
// proof after the last one.
_must_check_ struct error *proof_take(const struct finding_options *options, struct store *store,
                                      struct finding_group *group, struct engine_result *result,
                                      int64_t trial, bool shows);
// A trial of the candidate shows the finding, too. What is impossible for one fault says nothing
// about another.
_must_check_ struct error *proof_note_candidate(struct store *store, struct finding_group *group,
                                                int64_t candidate);

#endif
