// SPDX-License-Identifier: GPL-3.0-or-later
// Faults in the code that handles faults. Trials that were survived are run again, recorded; calls
// that no reference run made are the handling, and become candidates of two faults.
#ifndef ORDEAL_CAMPAIGN_SECOND_FAULTS_H
#define ORDEAL_CAMPAIGN_SECOND_FAULTS_H

#include "base/error.h"
#include "campaign/campaign.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "oracle/reference.h"
#include "store/store.h"

struct second_faults {
    const struct definition *definition;
    const struct injector *injector;
    struct shooting *shooting;
    const struct reference *reference;
    const struct campaign_control *control;
    struct store *store;
    struct store_campaign *campaign; // candidates and planned are raised
    bool recorded;                   // the injector has seen this campaign's reference runs
    uint64_t budget_ns;              // for recording, about; 0: no limit
};
// Stores the candidates after those that are there.
_must_check_ struct error *second_faults_add(const struct second_faults *second);

// Whether a campaign wants them and has none yet.
_must_check_ struct error *second_faults_due(const struct injector *injector, void *self,
                                             struct store *store, int64_t campaign, bool *ret_due);

#endif
