// SPDX-License-Identifier: GPL-3.0-or-later
// What was proven about builds of libraries, kept in the user's cache for other campaigns: that a
// function returns something because another one failed. That nothing makes it return so is not
// kept; it holds for one call only.
#ifndef ORDEAL_INJECTORS_LIBRARY_PROVEN_H
#define ORDEAL_INJECTORS_LIBRARY_PROVEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct proven_key {
    char *file;  // of the cache; NULL: the library's build is not known, or there is no cache
    char *fault; // "thing_new=NULL"
};
// `library` is a path, or NULL.
_must_check_ struct error *proven_key_make(const char *library, const char *function,
                                           const char *result, struct proven_key *ret_key);
void proven_key_deinit(struct proven_key *key);

struct proven {                                          // NULL and 0: nothing is known
    const char *call, *action, *error, *module, *symbol; // symbol and error may be ""
    uint64_t offset;
    bool lasting;
    char *line; // that the texts are parts of, or NULL
};
void proven_deinit(struct proven *proven);

// Finds what was kept. A file that is missing or damaged has nothing.
_must_check_ struct error *proven_recall(const struct proven_key *key, struct proven *ret_proven);
// The caller may ignore errors: then it is proven again.
_must_check_ struct error *proven_keep(const struct proven_key *key, const struct proven *proven);

#endif
