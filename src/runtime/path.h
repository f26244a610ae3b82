// SPDX-License-Identifier: GPL-3.0-or-later
// Ways that calls have come before, and what is known of their frames. See path.c.
#ifndef ORDEAL_RUNTIME_PATH_H
#define ORDEAL_RUNTIME_PATH_H

#include "runtime/unwind.h"

#define PATH_WORDS  56
#define PATH_GROUP  4 // words that are compared at a time
#define PATH_LOCALS 4
#define PATH_STACKS 64 // of the plan's first, whether they match is kept

// Where a variable is for calls that come a way: in the innermost frame that has it as a local,
// else in a module's data.
struct bearing {
    uint32_t variable;
    enum { BEARING_NOWHERE, BEARING_ADDRESS, BEARING_SAVED, BEARING_OWN } kind;
    const struct place *place;
    const struct module *module;
    uint64_t base; // that address; or where the register was saved; or its word of the call's frame
};

struct path_words {
    uint16_t at[PATH_GROUP]; // in words from the stack pointer
    uint64_t values[PATH_GROUP];
};

// In the order that a call needs it: each line of memory that is not in the cache takes as long as
// many instructions.
struct path {
    uint32_t taken;
    uint32_t generation;  // of the rows it was made with
    uint64_t pc, sp, rbp; // that a call starts from
    uint64_t end;         // of the part of the stack that the words are in
    uint64_t stacks_known, stacks_hold;
    uint8_t groups;      // of words, the last one filled up with what is there already
    uint8_t needed;      // of them, the first that what is known depends on
    uint8_t local_count; // of the bearings
    bool needs_rbp;
    struct path_words words[PATH_WORDS / PATH_GROUP];
    struct bearing locals[PATH_LOCALS];
    // Where calls of a slot are counted that come this way, by a process.
    uint64_t *recorded, recorded_slot, recorded_by;
} __attribute__((aligned(64)));

struct path *path_find(const struct call *call);

// The call's own, for all its rules; NULL: somebody else is at it, or the stack is not a simple
// one. What is known of it holds.
static inline struct path *path_of(const struct call *call)
{
    struct findings *findings = call->findings;
    if (!findings->looked) {
        findings->looked = true;
        findings->path = path_find(call);
    }
    return findings->path;
}

// Before something is found out about it: whether all of it is the call's. What was known may not
// be any more. False: it was left.
bool path_is_whole(struct path *path, const struct call *call);
// From now on something is known that depends on the frames up to number `depth` of the trail.
void path_depends(struct path *path, const struct trail *trail, uint32_t depth);
void path_depends_on_all(struct path *path);

// Others may have it: foreign code is to run, or the call is decided.
static inline void path_leave(const struct call *call)
{
    struct findings *findings = call->findings;
    if (findings->path != NULL)
        atomic_store(&findings->path->taken, 0);
    *findings = (struct findings){0};
}

// stack.c
static inline const struct wire_stack *plan_stack(uint32_t index)
{
    return (const struct wire_stack *)plan_array(runtime.plan->stacks) + index;
}
bool stack_matches(const struct call *call, uint32_t index);
bool stack_look(const struct call *call, uint32_t index, struct path *path);

// Likewise, where the caller alone does not tell.
static inline bool stack_known(const struct call *call, uint32_t index)
{
    struct path *path = index < PATH_STACKS ? path_of(call) : NULL;
    if (path != NULL && (path->stacks_known >> index & 1) != 0)
        return (path->stacks_hold >> index & 1) != 0;
    return stack_look(call, index, path);
}

#endif
