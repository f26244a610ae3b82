// SPDX-License-Identifier: GPL-3.0-or-later
// Reverse constant propagation (Algorithm 1 of the LFI article), extended. Result and errno are
// followed together, so values of the same return stay together. Conditions of branches on the path
// rule out paths that are impossible.
#ifndef ORDEAL_PROFILE_SEARCH_H
#define ORDEAL_PROFILE_SEARCH_H

#include "flow/image.h"
#include "profile/names.h"
#include "profile/summary.h"

// What the search asks about code outside the function.
struct search_context {
    struct error_sets *sets;
    // Summary of a local function or an import; NULL if nothing is known.
    const struct summary *(*callee)(void *data, uint32_t callee);
    // Errors of a system call; NULL if nothing is known.
    const struct error_set *(*system_call)(void *data, int64_t number);
    // Whether a slot that the loader fills in holds the offset of errno.
    bool (*is_error_slot)(void *data, const struct flow_slot *slot);
    // Whether a callee only reports errors. *ret_misuse: whether it reports that the function must
    // not be called as it was. May be NULL: none does.
    bool (*reports)(void *data, uint32_t callee, enum name_misuse *ret_misuse);
    // Whether a callee is a function of the system whose failures need no further cause. May be
    // NULL: none is.
    bool (*primitive)(void *data, uint32_t callee);
    void *data;
    uint8_t
        *private_stores; // a bit per instruction of the image, zero at first; used by the search
    bool results_only;   // ignore errno and other effects
};

// Adds every outcome of a function to a summary.
_must_check_ struct error *search_function(const struct flow_image *image, uint32_t function,
                                           const struct search_context *context,
                                           struct summary *summary);

#endif
