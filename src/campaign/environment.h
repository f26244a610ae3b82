// SPDX-License-Identifier: GPL-3.0-or-later
// The environment of a campaign in its store: names, values that may be stored, and keyed hashes of
// the others. Compares the hashes with the environment of a later run.
#ifndef ORDEAL_CAMPAIGN_ENVIRONMENT_H
#define ORDEAL_CAMPAIGN_ENVIRONMENT_H

#include "base/error.h"
#include "base/words.h"
#include "campaign/environment-key.h"
#include "definition/definition.h"
#include "store/store.h"

// Of variables whose values are not stored: what is known about them now.
struct environment_comparison {
    size_t same;
    struct words different; // names
    struct words missing;   // not set here
    struct words unknown;   // there is no hash, or it was made with another key
};
void environment_comparison_deinit(struct environment_comparison *comparison);

// Stores the variables of a campaign.
_must_check_ struct error *environment_store(struct store *store, int64_t campaign,
                                             const struct definition *definition,
                                             const struct environment_key *key);
// Compares the environment of a definition that was read from the store with the one that the
// campaign began with.
_must_check_ struct error *environment_compare(struct store *store,
                                               const struct store_campaign *campaign,
                                               const struct definition *definition,
                                               struct environment_comparison *ret_comparison);
bool environment_is_same(const struct environment_comparison *comparison);
// Appends "same", "differs: A, B" or "cannot tell: C (not set here)".
_must_check_ struct error *environment_put(struct buffer *text,
                                           const struct environment_comparison *comparison);

#endif
