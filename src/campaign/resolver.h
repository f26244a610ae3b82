// Answers the questions targets put into the region while they run: where the scenario's places
// and variables are in a module, and what the coordinator says.
#ifndef ORDEAL_CAMPAIGN_RESOLVER_H
#define ORDEAL_CAMPAIGN_RESOLVER_H

#include "base/error.h"
#include "campaign/region.h"
#include "scenario/scenario.h"

#include <stdbool.h>

struct resolver;

struct resolver_options {
    struct region *region;
    const struct scenario *scenario;
    const char *coordinator; // address, or NULL
    const char *node;        // this controller's name at the coordinator
};
// Starts the threads that are needed. Call with signals blocked.
struct error *resolver_start(const struct resolver_options *options,
                             struct resolver **ret_resolver);
void resolver_stop(struct resolver *resolver);
static inline void resolver_stopp(struct resolver **resolver)
{
    resolver_stop(*resolver);
}

// Whether a plan ever asks.
bool resolver_needed(const struct wire_plan *plan);

#endif
