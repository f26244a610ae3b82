// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares a campaign: runs the references, lists candidates, chooses among them, stores it all.
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
    struct definition *definition; // its `network: auto` gets decided
    const struct injector *injector;
    struct shooting *shooting;
    struct store *store;
    const struct campaign_control *control;
    struct store_campaign *campaign; // gets the numbers of candidates and planned trials
    uint64_t budget_ns;              // for the whole campaign; 0: none
    uint64_t spent_ns;               // how much of it is used when preparation begins
    uint64_t longest_ns;             // the longest reference shot, all steps included
    bool trying_network;             // see preparation-network.h
    char *network_remark;            // or NULL
};

// Runs the references and stores them and the candidates in one transaction. After an interrupt,
// *ret_reference stays as it was and nothing is stored. If the references do not serve, the
// campaign is removed from the store.
_must_check_ struct error *preparation_run(struct preparation *preparation,
                                           struct reference **ret_reference);
// Whether no reference run changed a file. False if files were not compared.
_must_check_ struct error *preparation_harmless(struct store *store, int64_t campaign,
                                                const struct definition *definition,
                                                bool *ret_harmless);
// Whether the store has the campaign's references already.
_must_check_ struct error *preparation_done(struct store *store, int64_t campaign, bool *ret_done);

#endif
