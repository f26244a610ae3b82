// SPDX-License-Identifier: GPL-3.0-or-later
// Reverse constant propagation (Algorithm 1 of the LFI article), extended: result and errno are
// followed together, so that values which belong to one way out of a function stay together, and
// what branches on the way prove about values rules out ways that cannot be.
#ifndef ORDEAL_PROFILE_SEARCH_H
#define ORDEAL_PROFILE_SEARCH_H

#include "flow/image.h"
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
    // Whether a callee is there to say what went wrong. May be NULL: nobody is.
    bool (*reports)(void *data, uint32_t callee);
    void *data;
    uint8_t *private_stores; // a bit per instruction of the image, zero at first: the search's own
                             // memory
    bool results_only;       // errno and other effects do not matter
};

// Looks at every way out of a function.
_must_check_ struct error *search_function(const struct flow_image *image, uint32_t function,
                                           const struct search_context *context,
                                           struct summary *summary);

#endif
