// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles that earlier runs made, in $XDG_CACHE_HOME/ordeal: one file each. What a profile
// depends on is its key: the library, everything it needs, the kernel's errors, this very tool.
#ifndef ORDEAL_PROFILE_CACHE_H
#define ORDEAL_PROFILE_CACHE_H

#include "profile/profile.h"

struct profile_cache {
    char *directory;
    struct buffer salt; // of every key
};
// `kernel` says which errors of system calls are used. Without a home there is no directory, and
// nothing is found or kept.
_must_check_ struct error *profile_cache_open(const char *kernel, struct profile_cache *ret_cache);
void profile_cache_close(struct profile_cache *cache);

// The key of a module of a set.
_must_check_ struct error *profile_cache_key(const struct profile_cache *cache,
                                             const struct profile_set *set, size_t module,
                                             struct buffer *key);

// A file that is missing, damaged or of something else is not found; *ret_found says whether.
_must_check_ struct error *profile_cache_load(const struct profile_cache *cache,
                                              const struct buffer *key, const char *path,
                                              struct profile *ret_profile, bool *ret_found);
// Errors are of no consequence but that the work has to be done again.
_must_check_ struct error *profile_cache_store(const struct profile_cache *cache,
                                               const struct buffer *key,
                                               const struct profile *profile);

#endif
