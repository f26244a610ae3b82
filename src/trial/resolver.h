// SPDX-License-Identifier: GPL-3.0-or-later
// Answers the questions targets put into the region while they run: where the scenario's places
// and variables are in a module, and what the coordinator says.
#ifndef ORDEAL_TRIAL_RESOLVER_H
#define ORDEAL_TRIAL_RESOLVER_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "trial/moved.h"
#include "trial/region.h"

#include <stdbool.h>

struct resolver;

struct resolver_options {
    struct region *region;
    const struct scenario *scenario;
    const char *coordinator;   // address, or NULL
    const char *node;          // this controller's name at the coordinator
    const char *root;          // put before modules' absolute paths; NULL or "": nothing
    const struct moved *moved; // what rules name otherwise than targets do, or NULL
};
// Starts the threads that are needed; they get no signals. The options' strings must outlive them.
_must_check_ struct error *resolver_start(const struct resolver_options *options,
                                          struct resolver **ret_resolver);
// Ends the threads; what was found stays known until resolver_free().
void resolver_stop(struct resolver *resolver);
void resolver_free(struct resolver *resolver);
static inline void resolver_freep(struct resolver **resolver)
{
    resolver_free(*resolver);
}

// Whether some module that was asked about has the place or the variable. True as long as none was
// asked: nothing is known then.
bool resolver_found_query(const struct resolver *resolver, size_t query);
bool resolver_found_variable(const struct resolver *resolver, size_t variable);

// Whether a plan ever asks.
bool resolver_needed(const struct wire_plan *plan);

#endif
