// SPDX-License-Identifier: GPL-3.0-or-later
// What comes before the trials: reference runs, candidates, the choice among them.
#ifndef ORDEAL_CAMPAIGN_PREPARATION_H
#define ORDEAL_CAMPAIGN_PREPARATION_H

#include "base/error.h"
#include "campaign/campaign.h"
#include "definition/definition.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "oracle/reference.h"
#include "store/store.h"

struct preparation {
    struct definition *definition; // of which `network: auto` is settled
    const struct injector *injector;
    struct shooting *shooting;
    struct store *store;
    const struct campaign_control *control;
    struct store_campaign *campaign; // candidates and planned are filled in
    uint64_t budget_ns;              // for all of the campaign; 0: none
    uint64_t spent_ns;               // of it when preparation begins
    uint64_t longest_ns;             // of the reference shots, everything included
    bool trying_network;             // see preparation-network.h
    char *network_remark;            // or NULL
};

// Runs references and stores them together with the candidates: all or nothing. *ret_reference is
// NULL if an interrupt came in between.
_must_check_ struct error *preparation_run(struct preparation *preparation,
                                           struct reference **ret_reference);
// Whether no reference run changed a file, as far as that was looked at.
_must_check_ struct error *preparation_harmless(struct store *store, int64_t campaign,
                                                const struct definition *definition,
                                                bool *ret_harmless);
// Whether that was done before.
_must_check_ struct error *preparation_done(struct store *store, int64_t campaign, bool *ret_done);

#endif
