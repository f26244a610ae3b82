// SPDX-License-Identifier: GPL-3.0-or-later
// Libraries and what their functions can come back with: modules with everything they need, each
// looked at once, in the order in which they depend on each other.
#ifndef ORDEAL_PROFILE_LIBRARY_H
#define ORDEAL_PROFILE_LIBRARY_H

#include "base/error.h"
#include "flow/image.h"
#include "profile/failures.h"
#include "profile/summary.h"

struct profile_set;

struct profile_options {
    // Errors of a system call; NULL if nothing is known of it. May itself be NULL.
    const struct error_set *(*system_call)(const void *data, int64_t number);
    const void *system_call_data;
};
_must_check_ struct error *profile_set_new(const struct profile_options *options,
                                           struct profile_set **ret_set);
void profile_set_free(struct profile_set *set);

// Adds a module and, before it, whatever it needs. One that is there already is not added again.
_must_check_ struct error *profile_set_add(struct profile_set *set, const char *path,
                                           size_t *ret_module);

// Analyses the functions of a module that it exports, and what they call, wherever that is.
_must_check_ struct error *profile_set_analyse(struct profile_set *set, size_t module);

// Lets go of a module's code when all that is wanted of it has been analysed; the results stay.
void profile_set_release(struct profile_set *set, size_t module);

struct profile_export {
    const char *name, *version; // version may be NULL
    uint64_t address;
    bool old;                      // not the version a new program would be linked to
    unsigned hints;                // enum hint
    const struct summary *summary; // NULL: its code was not found
};
// By name. `each` is called for exported functions only.
_must_check_ struct error *
profile_each_export(const struct profile_set *set, size_t module,
                    struct error *(*each)(void *data, const struct profile_export *), void *data);
const struct error_sets *profile_sets(const struct profile_set *set);

// The code of a module.
_must_check_ struct error *profile_module_image(struct profile_set *set, size_t module,
                                                const struct flow_image **ret_image);
const char *profile_module_path(const struct profile_set *set, size_t module);

// The failures of the function that an import (of the module's image) is bound to, which is
// analysed if need be. Deinit them.
_must_check_ struct error *profile_import_failures(struct profile_set *set, size_t module,
                                                   uint32_t import, struct failures *ret_failures);

#endif
