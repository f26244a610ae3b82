// SPDX-License-Identifier: GPL-3.0-or-later
// Call stacks: the rows that cfi.c computes, and walks from frame to frame.
#ifndef ORDEAL_RUNTIME_UNWIND_H
#define ORDEAL_RUNTIME_UNWIND_H

#include "runtime/call.h"
#include "runtime/system.h"
#include "wire/region.h"

struct module;

// ---- unwind.c ----

// Registers a callee must save, as struct walk keeps them.
enum { RBX, RBP, R12, R13, R14, R15, SAVED };

#define ROW_VALID   1 // the rest holds
#define ROW_END     2 // outermost frame
#define ROW_SIGNAL  4 // the kernel's signal frame
#define ROW_GUESSED 8 // by the frame pointer: nothing describes the code

#define ROW_ON_STACK SAVED // cfa_base: the stack pointer

// How to get from a frame to the next one out.
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
    uint64_t pc; // UNWIND_FREE, or UNWIND_BUSY while it is written
    struct row row;
};
extern struct cached_row unwind_rows[UNWIND_ROWS];
extern uint32_t unwind_generation; // changes when rows are forgotten; never 0
extern uint32_t unwind_reach;      // the last entry in use: few pages until more are needed

static inline struct cached_row *unwind_entry(uint64_t pc)
{
    return &unwind_rows[pc * 0x9e3779b97f4a7c15ull >> 52 & unwind_reach];
}

// The row that covers an address; flags 0 when there is none.
struct row unwind_row(uint64_t pc);

// The parts of a cached row that a step by stack or frame pointer needs. False: it is not cached.
static inline bool unwind_cached(uint64_t pc, struct row *ret_row)
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

// If no header of the module tells where its unwind table is, finds it by the module's file.
void unwind_find_table(struct module *module);
void unwind_forget(void); // a module is gone
void unwind_renew(void);  // what depends on the rows must be computed again

// A frame that a walk is at.
struct walk {
    uint64_t pc, sp;
    uint64_t registers[SAVED];
    uint64_t stack_low, stack_high; // memory that may be read directly
    bool exact;                     // pc is where the frame is, not where a call returns to
    bool finished;                  // it ended because the stack does
};

// Frames that a condition is looked for in. Only a damaged stack has more.
#define WALK_FRAMES (1u << 20)

#define WALK_REACH (128u << 20) // the kernel keeps at least this much below the main stack

void walk_start(struct walk *walk, const struct call_frame *frame);
bool walk_next(struct walk *walk);
bool walk_cfa(struct walk *walk, uint64_t *ret_cfa);
// Where a signal interrupted; every word is probed before it is read.
bool walk_interrupted(struct walk *walk, const void *context);
// Return addresses from the call outwards, at most `room`, at least the call's own.
uint32_t walk_collect(const struct call_frame *frame, uint64_t *pcs, uint32_t room);

uint32_t stack_collect(const struct call *call, uint64_t pcs[WIRE_FRAMES]); // likewise
uint64_t stack_hash(const struct call *call);
uint64_t frames_hash(const uint64_t *pcs, uint32_t count);
// Of the frames from one on. Where a frame is found by another register than these, the stack ends.
struct frame_start {
    uint64_t pc, sp, rbp;
};
uint64_t frames_hash_from(struct frame_start start);

// The mapping that an address lies in, from /proc.
bool find_mapping(uint64_t address, uint64_t *ret_low, uint64_t *ret_high);

// ---- last-walk.c ----

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
    bool ended;     // there are no frames further out than the last step
    uint32_t first; // of `steps` in use
    // Of the call: part of `steps`, or `fresh` where the stack is not a simple one and only the pc
    // of each step holds.
    const struct walk_step *frames;
    uint32_t count;
    bool whole; // there are no frames further out
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
