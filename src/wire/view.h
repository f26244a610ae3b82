// SPDX-License-Identifier: GPL-3.0-or-later
// A region whose bounds have been checked: typed pointers into it, and safe access to its parts.
// What targets wrote (records, module names, counters) may still hold any value. If it is known to
// be wrong, `damage` says so.
#ifndef ORDEAL_WIRE_VIEW_H
#define ORDEAL_WIRE_VIEW_H

#include "wire/region.h"

#include <stddef.h>

// Numbers of a region that cannot be true: a target wrote over them.
enum wire_damage {
    WIRE_DAMAGE_NONE,
    WIRE_DAMAGE_FIRED,  // a rule fired more often than its functions were called
    WIRE_DAMAGE_FELL,   // a count is lower than it was
    WIRE_DAMAGE_TIME,   // more happened than there was time for
    WIRE_DAMAGE_RECORD, // a record that no process can have made, or that is missing
    WIRE_DAMAGE_MARK,   // code was reached in a module that was not loaded, or too often
    WIRE_DAMAGE_HEADER, // what only the controller writes was overwritten
    WIRE_DAMAGES
};

struct wire_damage_text {
    const char *name, *meaning; // in JSON, and at the end of a sentence
};
static inline struct wire_damage_text wire_damage_text(enum wire_damage damage)
{
    static const struct wire_damage_text texts[WIRE_DAMAGES] = {
        [WIRE_DAMAGE_NONE] = {"none", "nothing"},
        [WIRE_DAMAGE_FIRED] = {"fired", "a rule fired more often than its functions were called"},
        [WIRE_DAMAGE_FELL] = {"fell", "a count went down"},
        [WIRE_DAMAGE_TIME] = {"time", "more is counted than can happen in the time that it ran"},
        [WIRE_DAMAGE_RECORD] = {"record",
                                "the journal does not agree with the counts, or with itself"},
        [WIRE_DAMAGE_MARK] = {"mark", "code is marked as executed that was not loaded"},
        [WIRE_DAMAGE_HEADER] = {"header", "what only Ordeal writes there was overwritten"},
    };
    return texts[damage < WIRE_DAMAGES ? damage : WIRE_DAMAGE_NONE];
}

struct wire_view {
    const struct wire_region *region;
    const struct wire_plan *plan;
    const struct wire_rule *rules; // rule_count of these and of rule_states
    const struct wire_rule_state *rule_states;
    const struct wire_pattern *patterns; // pattern_count of these and of pattern_states
    const struct wire_pattern_state *pattern_states;
    const struct wire_programs *programs;
    const struct wire_module *modules; // WIRE_MODULES
    const uint64_t *stack_set;         // WIRE_STACK_SET, or NULL
    const struct wire_calls *calls;    // or NULL
    const uint32_t *marks;             // region->mark_count
    const struct wire_record *journal; // record_count
    uint32_t rule_count, pattern_count;
    uint32_t record_count;   // records that may hold something, with those of late crashes
    const char *command;     // region->command_words strings, one after the other
    enum wire_damage damage; // if there is any, counts mean nothing and record_count is 0
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
