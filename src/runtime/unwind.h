// SPDX-License-Identifier: GPL-3.0-or-later
// How to get from one frame to the next: the rows that cfi.c computes and unwind.c walks by.
#ifndef ORDEAL_RUNTIME_UNWIND_H
#define ORDEAL_RUNTIME_UNWIND_H

#include "runtime/runtime.h"

// Registers a callee must save, as struct walk keeps them.
enum { RBX, RBP, R12, R13, R14, R15, SAVED };

#define ROW_VALID  1 // the rest holds
#define ROW_END    2 // outermost frame
#define ROW_SIGNAL 4 // the kernel's signal frame

#define ROW_ON_STACK SAVED // cfa_base: the stack pointer

struct row {
    int32_t cfa_offset;
    int16_t saved[SAVED]; // offset from the CFA, where the bit of saved_mask is set
    uint8_t saved_mask;
    uint8_t cfa_base; // number of a saved register, or ROW_ON_STACK
    uint8_t flags;
};

#define UNWIND_ROWS 4096
#define UNWIND_FREE 0
#define UNWIND_BUSY 1

struct cached_row {
    uint64_t pc; // 0 free, UNWIND_BUSY being written
    struct row row;
};
extern struct cached_row unwind_rows[UNWIND_ROWS];
extern uint32_t unwind_generation; // changes when rows are forgotten; never 0
extern uint32_t unwind_reach;      // the last entry in use: few pages until more are needed

static inline struct cached_row *unwind_entry(uint64_t pc)
{
    return &unwind_rows[pc * 0x9e3779b97f4a7c15ull >> 52 & unwind_reach];
}

// The row that covers an address; flags 0 when it is not known.
struct row unwind_row(uint64_t pc);

// What a step by the frame pointer needs of a row that is kept; false: it is not.
static inline bool unwind_known(uint64_t pc, struct row *ret_row)
{
    const struct cached_row *cached = unwind_entry(pc);
    if (atomic_load(&cached->pc) != pc)
        return false;
    ret_row->cfa_offset = cached->row.cfa_offset;
    ret_row->saved[RBP] = cached->row.saved[RBP];
    ret_row->saved_mask = cached->row.saved_mask;
    ret_row->cfa_base = cached->row.cfa_base;
    ret_row->flags = cached->row.flags;
    __asm__ volatile("" ::: "memory");
    return atomic_load(&cached->pc) == pc;
}

// Rows that another process of the workload has computed, where that is kept. See known.c.
bool known_row(struct module *module, uint64_t pc, struct row *ret_row);
void known_row_put(struct module *module, uint64_t pc, const struct row *row);

// A walk that is kept, see trail.c.
struct trail_step {
    uint64_t pc, sp, rbp; // at the frame
    uint64_t saved_rbp;   // where the next frame's rbp was read from; 0: it is the same
    uint64_t by_rbp;      // 1: the next frame is found by rbp
};

#define TRAIL_STEPS 64

#define WALK_REACH (128u << 20) // the kernel keeps at least this much below the main stack

struct trail {
    uint32_t taken;
    uint32_t generation; // of the rows it was made with
    // The call that it was made for.
    const struct function *function;
    uint64_t occurrence, sp;
    uint64_t end;   // the last frame's CFA, if a zero below it ends the stack; else 0
    bool ended;     // there are no frames further out
    uint32_t first; // of steps in use
    const struct trail_step
        *frames; // of the call: those, or of a careful walk, whose pc alone holds
    uint32_t count;
    struct trail_step steps[TRAIL_STEPS];
    struct trail_step fresh[WIRE_FRAMES];
};

// The frames of a call, at most WIRE_FRAMES, from the call outwards; NULL where somebody else is at
// it. What is taken is left again, soon.
struct trail *trail_take(const struct call *call);
void trail_leave(struct trail *trail);
// Whether the frames' stack pointers and registers are known, not their pc alone.
static inline bool trail_is_plain(const struct trail *trail)
{
    return trail->frames != trail->fresh;
}
// Where the value is saved that a register had in a frame of a plain trail; 0: it still has it in
// the call. False: it cannot be told.
bool trail_register(const struct trail *trail, uint32_t at, unsigned number, uint64_t *ret_saved);

#endif
