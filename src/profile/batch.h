// SPDX-License-Identifier: GPL-3.0-or-later
// Many libraries at once: each, and each that they need, is looked at once.
#ifndef ORDEAL_PROFILE_BATCH_H
#define ORDEAL_PROFILE_BATCH_H

#include "profile/cache.h"

struct batch {
    struct profile_options options;
    unsigned jobs;                     // threads
    const struct profile_cache *cache; // or NULL
    const bool *incomplete; // set when a question of `options` had no answer: nothing is kept then
};
struct batch_item {
    const char *path;
    struct profile profile; // unless `error` is set
    struct error *error;    // why there is none
    size_t module;          // of the batch's own
};

// Fills in every item. The error it returns itself is about none of them.
_must_check_ struct error *profile_batch(const struct batch *batch, struct batch_item *items,
                                         size_t count);
void batch_item_deinit(struct batch_item *item);

#endif
