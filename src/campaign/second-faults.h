// SPDX-License-Identifier: GPL-3.0-or-later
// Finds second faults: faults in the code that handles other faults. Survived trials are run again
// and recorded. Calls that no reference run made belong to the handling; each becomes a candidate
// with two faults.
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
    struct store_campaign *campaign; // its numbers of candidates and planned trials grow
    bool recorded;                   // the injector has recorded the reference runs
    uint64_t budget_ns;              // about how long recording may take; 0: no limit
};
// Stores the new candidates after the existing ones. Stores none after an interrupt.
_must_check_ struct error *second_faults_add(const struct second_faults *second);

// Whether a campaign wants second faults and has none yet.
_must_check_ struct error *second_faults_due(const struct injector *injector, void *self,
                                             struct store *store, int64_t campaign, bool *ret_due);

#endif
