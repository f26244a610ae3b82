// SPDX-License-Identifier: GPL-3.0-or-later
// Explains a finding by the trial that shows it.
#ifndef ORDEAL_CAMPAIGN_FINDING_EXPLAIN_H
#define ORDEAL_CAMPAIGN_FINDING_EXPLAIN_H

#include "engine/engine.h"
#include "explain/explain.h"
#include "store/store.h"

// Replaces the consequences of a finding by those of this result. *explainer is made at the first
// call, and is the caller's to free.
_must_check_ struct error *finding_explain(struct explainer **explainer, struct store *store,
                                           int64_t finding, const struct engine_result *result);

#endif
