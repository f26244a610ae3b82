// SPDX-License-Identifier: GPL-3.0-or-later
// Answers the questions that targets put into the region while they run: where the scenario's
// locations and variables are in a module, and what the coordinator says.
#ifndef ORDEAL_TRIAL_RESOLVER_H
#define ORDEAL_TRIAL_RESOLVER_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "trial/path-mapping.h"
#include "trial/region.h"

#include <stdbool.h>

struct resolver;

struct resolver_options {
    struct region *region;
    const struct scenario *scenario;
    const char *coordinator;            // address, or NULL
    const char *node;                   // this controller's name at the coordinator
    const char *root;                   // put before modules' absolute paths; NULL or "": nothing
    const struct path_mapping *mapping; // from targets' paths to those in rules, or NULL
};
// Starts the threads that the plan needs; they get no signals. The options' strings, the region and
// the scenario must outlive them.
_must_check_ struct error *resolver_start(const struct resolver_options *options,
                                          struct resolver **ret_resolver);
// Ends the threads. What was found stays known until resolver_free().
void resolver_stop(struct resolver *resolver);
void resolver_free(struct resolver *resolver);
static inline void resolver_freep(struct resolver **resolver)
{
    resolver_free(*resolver);
}

// Whether some module has the location or the variable. True if no module was asked about, since
// nothing is known then. Call them after resolver_stop().
bool resolver_found_query(const struct resolver *resolver, size_t query);
bool resolver_found_variable(const struct resolver *resolver, size_t variable);

// Whether targets with this plan ever ask.
bool resolver_needed(const struct wire_plan *plan);

#endif
