// SPDX-License-Identifier: GPL-3.0-or-later
// What a module's imports can fail with: worked out, or read from the cache.
#ifndef ORDEAL_CALLSITE_IMPORTS_H
#define ORDEAL_CALLSITE_IMPORTS_H

#include "profile/cache.h"

struct callsite_imports {
    // One function for each import of the module's image, in the same order. Its `address` is not
    // one: it says whether zero is the function's only success.
    struct profile profile;
    struct buffer key; // for the cache; empty if the cache has it already
};
void callsite_imports_deinit(struct callsite_imports *imports);

// Takes it from the cache, or works it out. `cache` may be NULL.
_must_check_ struct error *callsite_imports_learn(struct profile_set *set, size_t module,
                                                  const struct flow_image *image,
                                                  const struct profile_cache *cache,
                                                  struct callsite_imports *ret_imports);
// Writes what was worked out to the cache. Errors are ignored: then it is worked out again.
void callsite_imports_keep(const struct callsite_imports *imports,
                           const struct profile_cache *cache);

#endif
