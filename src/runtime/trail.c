// SPDX-License-Identifier: GPL-3.0-or-later
// Trails: the last walk of a thread, kept. Calls that follow each other share most of their stack,
// so a walk soon meets a frame that the last one met. The rest is then the same if the few words
// that it was read from are the same, which is much cheaper to see than to walk again.
#include "runtime/unwind.h"

#define TRAILS 64

static struct trail trails[TRAILS];

// A thread's own, but threads may have to share. Who finds it taken - by another thread, by the
// code that its signal handler interrupted - does without.
static struct trail *trail_claim(const struct call *call)
{
    struct trail *trail = &trails[((uint64_t)call->thread * 0x9e3779b97f4a7c15ull) >> 58];
    return atomic_swap_if(&trail->taken, 0, 1) ? trail : NULL;
}

void trail_leave(struct trail *trail)
{
    atomic_store(&trail->taken, 0);
}

// Whether everything that the steps from `at` on were read from is as it was.
static bool tail_holds(const struct trail *trail, const struct trail_step *at, uint64_t stack_high)
{
    const struct trail_step *last = &trail->steps[TRAIL_STEPS - 1];
    if (last->sp > stack_high || trail->end > stack_high)
        return false;
    for (; at < last; at++) {
        if (*(const uint64_t *)(at[1].sp - 8) != at[1].pc)
            return false;
        if (at->saved_rbp != 0 && *(const uint64_t *)at->saved_rbp != at[1].rbp)
            return false;
    }
    return trail->end == 0 || *(const uint64_t *)(trail->end - 8) == 0;
}

// Puts the new steps before those from `at` on that still hold.
static bool trail_join(struct trail *trail, uint32_t fresh, uint32_t at)
{
    if (at < fresh)
        return false;
    trail->first = at - fresh;
    for (uint32_t i = 0; i < fresh; i++)
        trail->steps[trail->first + i] = trail->fresh[i];
    trail->frames = &trail->steps[trail->first];
    trail->count = TRAIL_STEPS - trail->first;
    if (trail->count > WIRE_FRAMES)
        trail->count = WIRE_FRAMES;
    return trail->ended || trail->count == WIRE_FRAMES;
}

enum step { STEP_ON, STEP_END, STEP_UNUSUAL };

// One frame outwards where that is simple: the row's CFA is on the stack or frame pointer,
// everything else between the two. Tells of the end where the word is that ends the stack, or 0.
static enum step step_out(struct trail_step *step, struct trail_step *ret_next, uint64_t high,
                          uint64_t *ret_end)
{
    struct row row;
    if (!unwind_known(step->pc - 1, &row))
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
    *ret_next = (struct trail_step){pc, cfa, rbp, 0, 0};
    *ret_end = pc == 0 ? cfa : 0;
    return pc == 0 ? STEP_END : STEP_ON;
}

// Walks until the old trail is met again or the stack ends. False: the stack is not a simple one.
static bool trail_walk(struct trail *trail, const struct walk *start)
{
    struct trail_step step = {start->pc, start->sp, start->registers[RBP], 0, 0}, next;
    uint32_t at = trail->first, fresh = 0;
    uint64_t end;
    for (;;) {
        while (at < TRAIL_STEPS && trail->steps[at].sp < step.sp)
            at++;
        if (at < TRAIL_STEPS && trail->steps[at].sp == step.sp && trail->steps[at].pc == step.pc &&
            trail->steps[at].rbp == step.rbp) {
            if (tail_holds(trail, &trail->steps[at], start->stack_high) &&
                trail_join(trail, fresh, at))
                return true;
            at = TRAIL_STEPS; // do not try again
        }
        enum step kind = step_out(&step, &next, start->stack_high, &end);
        if (kind == STEP_UNUSUAL)
            return false;
        trail->fresh[fresh++] = step;
        if (kind == STEP_END || fresh == WIRE_FRAMES) {
            trail->ended = kind == STEP_END;
            trail->end = end;
            return trail_join(trail, fresh, TRAIL_STEPS);
        }
        step = next;
    }
}

// Signal frames, stacks in several pieces: every step is probed, and nothing of it kept.
static void trail_walk_carefully(struct trail *trail, struct walk *walk)
{
    uint32_t count = 0;
    do
        trail->fresh[count++].pc = walk->pc;
    while (count < WIRE_FRAMES && walk_next(walk));
    trail->frames = trail->fresh;
    trail->count = count;
    trail->first = TRAIL_STEPS;
}

struct trail *trail_take(const struct call *call)
{
    struct walk walk;
    struct trail *trail = trail_claim(call);
    if (trail == NULL)
        return NULL;
    uint32_t generation = atomic_load(&unwind_generation);
    if (trail->generation != generation || trail->first == 0)
        trail->first = TRAIL_STEPS;
    else if (trail->function == call->function && trail->occurrence == call->occurrence &&
             trail->sp == (uint64_t)call->frame->stack)
        return trail; // a rule before this one has been here
    trail->function = call->function;
    trail->occurrence = call->occurrence;
    trail->sp = (uint64_t)call->frame->stack;
    trail->generation = generation;
    walk_start(&walk, call->frame);
    if (!trail_walk(trail, &walk))
        trail_walk_carefully(trail, &walk);
    return trail;
}

// A register still holds in a frame what its callee found in it, and saved if it used it.
bool trail_register(const struct trail *trail, uint32_t at, unsigned number, uint64_t *ret_saved)
{
    const struct trail_step *steps = trail->frames;
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
