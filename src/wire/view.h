// SPDX-License-Identifier: GPL-3.0-or-later
// A region whose bounds have been checked: typed pointers into it, and safe access to its parts.
// What targets wrote (records, module names, counters) may still hold any value.
#ifndef ORDEAL_WIRE_VIEW_H
#define ORDEAL_WIRE_VIEW_H

#include "wire/region.h"

#include <stddef.h>

struct wire_view {
    const struct wire_region *region;
    const struct wire_plan *plan;
    const struct wire_rule *rules; // rule_count of these and of rule_states
    const struct wire_rule_state *rule_states;
    const struct wire_pattern *patterns; // pattern_count of these and of pattern_states
    const struct wire_pattern_state *pattern_states;
    const struct wire_module *modules; // WIRE_MODULES
    const uint64_t *stack_set;         // WIRE_STACK_SET, or NULL
    const struct wire_calls *calls;    // or NULL
    const struct wire_record *journal; // record_count
    uint32_t rule_count, pattern_count;
    uint32_t record_count; // records that may hold something, with those of late crashes
    const char *command;   // region->command_words strings, one after the other
};

// A string of the plan; "" for an offset outside.
static inline const char *wire_view_string(const struct wire_view *view, uint32_t offset)
{
    if (offset >= view->plan->strings.count)
        return "";
    return (const char *)view->plan + view->plan->strings.offset + offset;
}

// The rules of a pattern.
static inline const uint32_t *wire_view_rule_refs(const struct wire_view *view,
                                                  const struct wire_pattern *pattern)
{
    return (const uint32_t *)((const char *)view->plan + view->plan->rule_refs.offset) +
           pattern->rule_refs.offset;
}

#endif
