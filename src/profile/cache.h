// SPDX-License-Identifier: GPL-3.0-or-later
// A cache of fault profiles in $XDG_CACHE_HOME/ordeal, one file each. The key contains all that a
// profile depends on: the library, everything it needs, the kernel's errors, this build of Ordeal.
#ifndef ORDEAL_PROFILE_CACHE_H
#define ORDEAL_PROFILE_CACHE_H

#include "profile/profile.h"

struct profile_cache {
    char *directory;
    struct buffer salt; // beginning of every key
};
// `kernel` says which errors of system calls are used. Without a home directory, nothing is found
// or stored.
_must_check_ struct error *profile_cache_open(const char *kernel, struct profile_cache *ret_cache);
void profile_cache_close(struct profile_cache *cache);
// The path of another file in the cache's directory, NAME.ENDING; NULL without a home directory.
_must_check_ struct error *profile_cache_path(const char *name, const char *ending,
                                              char **ret_path);
_must_check_ struct error *profile_cache_make_directory(void);

// Appends the key of a module to `key`.
_must_check_ struct error *profile_cache_key(const struct profile_cache *cache,
                                             const struct profile_set *set, size_t module,
                                             struct buffer *key);

// *ret_found: whether there is a profile. A file that is missing, damaged or of another key is
// none.
_must_check_ struct error *profile_cache_load(const struct profile_cache *cache,
                                              const struct buffer *key, const char *path,
                                              struct profile *ret_profile, bool *ret_found);
// The caller may ignore errors: then the work is done again the next time.
_must_check_ struct error *profile_cache_store(const struct profile_cache *cache,
                                               const struct buffer *key,
                                               const struct profile *profile);

#endif
