// SPDX-License-Identifier: GPL-3.0-or-later
// The last walk of a thread, kept. Calls that follow each other share most of their stack, so a
// walk soon meets a frame that the last one met. The rest is the same if the few words it was read
// from are the same, and comparing those is much cheaper than walking again.
#include "runtime/unwind.h"

#include "runtime/call.h"
#include "runtime/system.h"

#define LAST_WALKS 64

static struct last_walk last_walks[LAST_WALKS];

// The record of a thread; threads may have to share one. If it is taken, by another thread or by
// the code that a signal handler interrupted, the caller does without.
static struct last_walk *last_walk_claim(const struct call *call)
{
    struct last_walk *last = &last_walks[((uint64_t)call->thread * 0x9e3779b97f4a7c15ull) >> 58];
    return atomic_swap_if(&last->taken, 0, 1) ? last : NULL;
}

void last_walk_leave(struct last_walk *last)
{
    atomic_store(&last->taken, 0);
}

// Whether the words that the steps from `at` on were read from are unchanged.
static bool tail_holds(const struct last_walk *last, const struct walk_step *at,
                       uint64_t stack_high)
{
    const struct walk_step *outermost = &last->steps[LAST_WALK_STEPS - 1];
    if (outermost->sp > stack_high || last->end > stack_high)
        return false;
    for (; at < outermost; at++) {
        if (*(const uint64_t *)(at[1].sp - 8) != at[1].pc)
            return false;
        if (at->saved_rbp != 0 && *(const uint64_t *)at->saved_rbp != at[1].rbp)
            return false;
    }
    return last->end == 0 || *(const uint64_t *)(last->end - 8) == 0;
}

// Puts the fresh steps before the old ones from `at` on, which still hold.
static bool last_walk_join(struct last_walk *last, uint32_t fresh, uint32_t at)
{
    if (at < fresh)
        return false;
    last->first = at - fresh;
    for (uint32_t i = 0; i < fresh; i++)
        last->steps[last->first + i] = last->fresh[i];
    last->frames = &last->steps[last->first];
    last->count = LAST_WALK_STEPS - last->first;
    last->whole = last->ended && last->count <= WIRE_FRAMES;
    if (last->count > WIRE_FRAMES)
        last->count = WIRE_FRAMES;
    return last->ended || last->count == WIRE_FRAMES;
}

enum step { STEP_ON, STEP_END, STEP_UNUSUAL };

// One frame outwards, if that is simple: the CFA is on the stack or frame pointer, and everything
// is read from between the two frames. *ret_end is where the word is that ends the stack, or 0.
static enum step step_out(struct walk_step *step, struct walk_step *ret_next, uint64_t high,
                          uint64_t *ret_end)
{
    struct row row;
    if (!unwind_cached(step->pc - 1, &row))
        row = unwind_row(step->pc - 1);
    *ret_end = 0;
    if (row.flags != ROW_VALID)
        return row.flags == (ROW_VALID | ROW_END) ? STEP_END : STEP_UNUSUAL;
    if (row.cfa_base != ROW_ON_STACK && row.cfa_base != RBP)
        return STEP_UNUSUAL;
    uint64_t cfa =
        (row.cfa_base == ROW_ON_STACK ? step->sp : step->rbp) + (uint64_t)(int64_t)row.cfa_offset;
    uint64_t saved = cfa + (uint64_t)(int64_t)row.saved[RBP];
    bool restores = (row.saved_mask >> RBP & 1) != 0;
    if (cfa <= step->sp || cfa > high || cfa % 8 != 0 ||
        (restores && (saved < step->sp || saved + 8 > cfa)))
        return STEP_UNUSUAL;
    uint64_t pc = *(const uint64_t *)(cfa - 8);
    uint64_t rbp = restores ? *(const uint64_t *)saved : step->rbp;
    step->saved_rbp = restores ? saved : 0;
    step->by_rbp = row.cfa_base == RBP;
    *ret_next = (struct walk_step){pc, cfa, rbp, 0, 0};
    *ret_end = pc == 0 ? cfa : 0;
    return pc == 0 ? STEP_END : STEP_ON;
}

// Walks until a frame of the old walk is met or the stack ends. False: the stack is not a simple
// one.
static bool last_walk_make(struct last_walk *last, const struct walk *start)
{
    struct walk_step step = {start->pc, start->sp, start->registers[RBP], 0, 0}, next;
    uint32_t at = last->first, fresh = 0;
    uint64_t end;
    for (;;) {
        while (at < LAST_WALK_STEPS && last->steps[at].sp < step.sp)
            at++;
        if (at < LAST_WALK_STEPS && last->steps[at].sp == step.sp &&
            last->steps[at].pc == step.pc && last->steps[at].rbp == step.rbp) {
            if (tail_holds(last, &last->steps[at], start->stack_high) &&
                last_walk_join(last, fresh, at))
                return true;
            at = LAST_WALK_STEPS; // do not compare again
        }
        enum step kind = step_out(&step, &next, start->stack_high, &end);
        if (kind == STEP_UNUSUAL)
            return false;
        last->fresh[fresh++] = step;
        if (kind == STEP_END || fresh == WIRE_FRAMES) {
            last->ended = kind == STEP_END;
            last->end = end;
            return last_walk_join(last, fresh, LAST_WALK_STEPS);
        }
        step = next;
    }
}

// For signal frames and stacks in several pieces: every step is probed, and nothing of it kept.
static void last_walk_make_carefully(struct last_walk *last, struct walk *walk)
{
    uint32_t count = 0;
    do
        last->fresh[count++].pc = walk->pc;
    while (count < WIRE_FRAMES && walk_next(walk));
    last->frames = last->fresh;
    last->count = count;
    last->whole = walk->finished;
    last->first = LAST_WALK_STEPS;
}

struct last_walk *last_walk_take(const struct call *call)
{
    struct walk walk;
    struct last_walk *last = last_walk_claim(call);
    if (last == NULL)
        return NULL;
    uint32_t generation = atomic_load(&unwind_generation);
    if (last->generation != generation || last->first == 0)
        last->first = LAST_WALK_STEPS;
    else if (last->function == call->function && last->occurrence == call->occurrence &&
             last->sp == (uint64_t)call->frame->stack)
        return last; // another rule of the same call has walked already
    last->function = call->function;
    last->occurrence = call->occurrence;
    last->sp = (uint64_t)call->frame->stack;
    last->generation = generation;
    walk_start(&walk, call->frame);
    if (!last_walk_make(last, &walk))
        last_walk_make_carefully(last, &walk);
    return last;
}

// A register has, in a frame, the value that the callee found. If the callee uses the register, it
// has saved the value.
bool last_walk_register(const struct last_walk *last, uint32_t at, unsigned number,
                        uint64_t *ret_saved)
{
    const struct walk_step *steps = last->frames;
    while (at-- > 0) {
        const struct row row = unwind_row(steps[at].pc - 1);
        if (row.flags != ROW_VALID)
            return false;
        if ((row.saved_mask >> number & 1) != 0) {
            uint64_t address = steps[at + 1].sp + (uint64_t)(int64_t)row.saved[number];
            if (address < steps[at].sp || address + 8 > steps[at + 1].sp)
                return false;
            *ret_saved = address;
            return true;
        }
    }
    *ret_saved = 0;
    return true;
}
