// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of a trigger: how its text is parsed and what code it becomes. Each trigger is one
// descriptor in a trigger-*.c file and one line in triggers.c; docs/HOWTO-add-a-trigger.md is the
// recipe.
#ifndef ORDEAL_SCENARIO_TRIGGER_KIND_H
#define ORDEAL_SCENARIO_TRIGGER_KIND_H

#include "scenario/codegen.h"
#include "scenario/expression.h"
#include "scenario/trigger.h"

struct trigger_kind {
    struct scenario_trigger about;
    // Reads what follows the name and keeps it in the node. NULL: nothing follows.
    struct error *(*parse)(struct parser *parser, struct expression *node);
    // Pushes the trigger's value.
    struct error *(*compile)(struct codegen *codegen, const struct expression *node);
    // Pushes 1 if the trigger's text matches. NULL: it is not a text.
    struct error *(*match)(struct codegen *codegen, const struct expression *node,
                           enum wire_match match, struct text text);
    // The query that the immediate caller must match for the trigger to hold, or WIRE_NONE. May be
    // NULL: none.
    uint32_t (*site)(const struct scenario *scenario, const struct expression *node);
    bool is_count;      // its value is the occurrence number
    bool is_match;      // its value is a number from 1 on, and code may ask for it once only
    bool is_duration;   // its value is compared with durations, never with bare numbers
    bool sees_calls;    // its answer depends on the calls it was asked about before: ask exactly
                        // once for each call
    bool conjunct_only; // may stand only as a term of the condition's top-level `and`s
};

extern const struct trigger_kind trigger_after, trigger_arg, trigger_caller, trigger_count,
    trigger_fd, trigger_holding_mutex, trigger_inside, trigger_match, trigger_new_stack,
    trigger_once, trigger_path, trigger_plugin, trigger_process, trigger_ancestry, trigger_random,
    trigger_remote, trigger_stack, trigger_thread, trigger_time, trigger_var;

extern const struct vocabulary trigger_vocabulary;

// Parses (P) and leaves the probability in the node's number, as WIRE_OP_RANDOM takes it.
_must_check_ struct error *trigger_parse_random(struct parser *parser, struct expression *node);

#endif
