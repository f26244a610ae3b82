// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a call stack is one that a condition names.
#ifndef ORDEAL_RUNTIME_STACK_H
#define ORDEAL_RUNTIME_STACK_H

#include "runtime/call-path.h"
#include "runtime/runtime.h"

static inline const struct wire_stack *plan_stack(uint32_t index)
{
    return (const struct wire_stack *)plan_array(runtime.plan->stacks) + index;
}

// A condition was not found to hold, but its walk ended before the stack did.
static inline void rule_walk_unfinished(uint32_t rule)
{
    atomic_add(&runtime.rule_states[rule].unfinished, 1);
}

// `rule` is charged with a walk that did not come to the end of the stack.
bool stack_matches(const struct call *call, uint32_t index, uint32_t rule);
// What the call's path does not tell yet; `path` may be NULL.
bool stack_look(const struct call *call, uint32_t index, uint32_t rule, struct call_path *path);

// Like stack_matches(), but does not look at the caller first.
static inline bool stack_matches_frames(const struct call *call, uint32_t index, uint32_t rule)
{
    struct call_path *path = index < CALL_PATH_STACKS ? call_path_of(call) : NULL;
    if (path != NULL && (path->stacks_known >> index & 1) != 0)
        return (path->stacks_hold >> index & 1) != 0;
    return stack_look(call, index, rule, path);
}

#endif
