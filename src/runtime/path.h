// SPDX-License-Identifier: GPL-3.0-or-later
// Ways that calls have come before, and what is known of their frames. See path.c.
#ifndef ORDEAL_RUNTIME_PATH_H
#define ORDEAL_RUNTIME_PATH_H

#include "runtime/unwind.h"

#define PATH_WORDS  56
#define PATH_LOCALS 4
#define PATH_STACKS 64 // of the plan's first, whether they match is kept

struct path_word {
    uint64_t address, value;
};

// Where a local variable starts from, in the innermost frame that has it.
struct bearing {
    const struct place *place; // NULL: no frame has it
    const struct module *module;
    enum { BEARING_ADDRESS, BEARING_SAVED, BEARING_OWN } kind;
    uint64_t base; // that address; or where the register was saved; or the number of the call's own
};

struct path {
    uint32_t taken;
    uint32_t generation; // of the rows it was made with
    // The call that last came this way.
    const struct function *function;
    uint64_t occurrence;
    uint64_t pc, sp, rbp; // that a call starts from
    bool needs_rbp;
    uint32_t count, local_count;
    uint64_t end; // of the part of the stack that the words are in
    uint64_t stacks_known, stacks_hold;
    // Where calls of a slot are counted that come this way, by a process.
    uint64_t *recorded, recorded_slot, recorded_by;
    uint32_t variables[PATH_LOCALS];
    struct bearing locals[PATH_LOCALS];
    struct path_word words[PATH_WORDS];
};

#define PATHS 256
extern struct path paths[PATHS];
bool path_check(struct path *path, const struct call *call); // false: it was left

static inline void path_leave(struct path *path)
{
    atomic_store(&path->taken, 0);
}

// Taken is left again, soon. NULL: somebody else is at it, or the stack is not a simple one.
static inline struct path *path_take(const struct call *call)
{
    uint64_t sp = (uint64_t)call->frame->stack;
    uint64_t key = call->frame->return_address + 31 * sp + (uint64_t)call->thread;
    struct path *path = &paths[key * 0x9e3779b97f4a7c15ull >> 56];
    if (!atomic_swap_if(&path->taken, 0, 1))
        return NULL;
    if (path->occurrence == call->occurrence && path->function == call->function &&
        path->sp == sp && path->generation == atomic_load(&unwind_generation))
        return path; // a rule before this one has been here
    return path_check(path, call) ? path : NULL;
}

#endif
