// SPDX-License-Identifier: GPL-3.0-or-later
// The last walk of a thread, kept for the next one.
#ifndef ORDEAL_RUNTIME_LAST_WALK_H
#define ORDEAL_RUNTIME_LAST_WALK_H

#include "runtime/call.h"
#include "wire/region.h"

struct walk_step {
    uint64_t pc, sp, rbp; // at the frame
    uint64_t saved_rbp;   // where the next frame's rbp was read from; 0: it is the same
    uint64_t by_rbp;      // 1: the next frame is found by rbp
};

#define LAST_WALK_STEPS 64

struct last_walk {
    uint32_t taken;
    uint32_t generation; // unwind_generation when it was made
    // The call that it was made for.
    const struct function *function;
    uint64_t occurrence, sp;
    uint64_t end;   // the last frame's CFA, if a zero below it ends the stack; else 0
    bool ended;     // there are no frames further out
    uint32_t first; // of `steps` in use
    // Of the call: part of `steps`, or `fresh` where the stack is not a simple one and only the pc
    // of each step holds.
    const struct walk_step *frames;
    uint32_t count;
    struct walk_step steps[LAST_WALK_STEPS];
    struct walk_step fresh[WIRE_FRAMES];
};

// The frames of a call, at most WIRE_FRAMES, from the call outwards. NULL: somebody else is using
// the record. Leave it soon.
struct last_walk *last_walk_take(const struct call *call);
void last_walk_leave(struct last_walk *last);
// Whether the stack pointers and registers of the frames are known, not their pc alone.
static inline bool last_walk_is_simple(const struct last_walk *last)
{
    return last->frames != last->fresh;
}
// Where the value is saved that a register had in a frame of a simple walk; 0: the call's frame
// still has it. False: it cannot be told.
bool last_walk_register(const struct last_walk *last, uint32_t at, unsigned number,
                        uint64_t *ret_saved);

#endif
