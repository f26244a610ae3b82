// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the fault profiles of many libraries in several threads. Each library, and each library
// they need, is analysed once.
#ifndef ORDEAL_PROFILE_BATCH_H
#define ORDEAL_PROFILE_BATCH_H

#include "profile/cache.h"

struct batch {
    struct profile_options options;
    unsigned jobs;                     // threads
    const struct profile_cache *cache; // or NULL
    const bool *incomplete; // set when `options` could not answer: then the cache is not written
};
struct batch_item {
    const char *path;
    struct profile profile; // unless `error` is set
    struct error *error;    // why there is no profile
    size_t module;          // used by profile_batch()
};

// Fills in every item, with a profile or an error. Returns only errors that are about no item.
// Call batch_item_deinit() for each.
_must_check_ struct error *profile_batch(const struct batch *batch, struct batch_item *items,
                                         size_t count);
void batch_item_deinit(struct batch_item *item);

#endif
