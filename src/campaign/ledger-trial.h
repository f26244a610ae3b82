// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a trial's result in the store.
#ifndef ORDEAL_CAMPAIGN_LEDGER_TRIAL_H
#define ORDEAL_CAMPAIGN_LEDGER_TRIAL_H

#include "campaign/ledger.h"

// Stores a trial, its injections and what was observed of it. `finding` is 0 if it belongs to none.
// Needs an open transaction.
_must_check_ struct error *ledger_add_trial(const struct ledger *ledger,
                                            const struct trial_job *job,
                                            const struct engine_result *result, int64_t finding,
                                            bool confirmation, int64_t *ret_id);

#endif
