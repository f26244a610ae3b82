// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of libraries and what their functions can return. Each function is searched once, after its
// callees, in whatever library those are.
#ifndef ORDEAL_PROFILE_LIBRARY_H
#define ORDEAL_PROFILE_LIBRARY_H

#include "base/error.h"
#include "flow/image.h"
#include "profile/failures.h"
#include "profile/header/declarations.h"
#include "profile/summary.h"

struct profile_set;

struct profile_options {
    // Errors of a system call; NULL if unknown. The pointer itself may be NULL.
    const struct error_set *(*system_call)(const void *data, int64_t number);
    const void *system_call_data;
    // Whether a function of the C library fails for reasons that only the system knows, so that its
    // failure is a cause of its own. NULL: none.
    bool (*is_primitive)(const char *name);
    const struct declarations *declarations; // of exported functions, or NULL
};
_must_check_ struct error *profile_set_new(const struct profile_options *options,
                                           struct profile_set **ret_set);
void profile_set_free(struct profile_set *set);

// Adds a module and, before it, everything it needs. A module that is in the set is not added
// again.
_must_check_ struct error *profile_set_add(struct profile_set *set, const char *path,
                                           size_t *ret_module);

// Searches the exported functions of a module and everything they call, in any module.
_must_check_ struct error *profile_set_analyse(struct profile_set *set, size_t module);

// An error if something could not be read, or memory was short, so that results may lack what is
// there. To be called before results are kept or shown.
_must_check_ struct error *profile_set_check(const struct profile_set *set);

// Frees a module's code when it is no longer needed. The results for exported functions stay.
void profile_set_release(struct profile_set *set, size_t module);

struct profile_export {
    const char *name, *version; // version may be NULL
    uint64_t address;
    bool old;                      // new programs are not linked to this version
    unsigned hints;                // enum hint
    const struct summary *summary; // NULL: its code was not found
};
// Calls `each` for exported functions, sorted by name. An error of `each` ends that and is
// returned.
_must_check_ struct error *
profile_each_export(const struct profile_set *set, size_t module,
                    struct error *(*each)(void *data, const struct profile_export *), void *data);
const struct error_sets *profile_sets(const struct profile_set *set);

// The code of a module, decoded if need be. It belongs to the set.
_must_check_ struct error *profile_module_image(struct profile_set *set, size_t module,
                                                const struct flow_image **ret_image);
const char *profile_module_path(const struct profile_set *set, size_t module);

// The failures of the function that an import of the module's image is bound to. The function is
// searched if need be. Call failures_deinit() for them.
_must_check_ struct error *profile_import_failures(struct profile_set *set, size_t module,
                                                   uint32_t import, struct failures *ret_failures);

#endif
