// SPDX-License-Identifier: GPL-3.0-or-later
// What campaigns activated, compared with the fault model.
#ifndef ORDEAL_CLI_FAULTS_FIDELITY_CAMPAIGN_H
#define ORDEAL_CLI_FAULTS_FIDELITY_CAMPAIGN_H

#include "fidelity/measure.h"

struct fidelity_campaign {
    const char *path;
    uint64_t trials, activated;
    struct fidelity_distance distance; // of the activated faults from the model
};
// Reads the newest campaign of a store. `types` are those of the match.
_must_check_ struct error *fidelity_campaign_read(const char *path,
                                                  const struct fidelity_result *types,
                                                  const struct fidelity_match *match,
                                                  struct fidelity_campaign *ret_campaign);

#endif
