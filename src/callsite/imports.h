// SPDX-License-Identifier: GPL-3.0-or-later
// What a module's imports can fail with, worked out or remembered from an earlier run.
#ifndef ORDEAL_CALLSITE_IMPORTS_H
#define ORDEAL_CALLSITE_IMPORTS_H

#include "profile/cache.h"

struct callsite_imports {
    // One function for each import of the module's image, in the same order; its address says
    // whether zero is its only success.
    struct profile profile;
    struct buffer key; // empty: nothing that the cache does not have
};
void callsite_imports_deinit(struct callsite_imports *imports);

// `cache` may be NULL.
_must_check_ struct error *callsite_imports_learn(struct profile_set *set, size_t module,
                                                  const struct flow_image *image,
                                                  const struct profile_cache *cache,
                                                  struct callsite_imports *ret_imports);
// Keeps what was worked out for the next time. Failures are of no consequence.
void callsite_imports_keep(const struct callsite_imports *imports,
                           const struct profile_cache *cache);

#endif
