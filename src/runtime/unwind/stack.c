// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the call stack matches `stack(...)` or `caller(...)` of a condition.
#include "runtime/stack.h"

#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/evaluate.h"
#include "runtime/runtime.h"
#include "runtime/unwind.h"

// Return addresses from the call outwards, `stride` words apart.
struct frames {
    const uint64_t *pcs;
    uint32_t stride, count;
};

// Whether items match frames from `at` on. Like glob matching: a gap takes as little as possible,
// and only the last gap is tried again, so no recursion is needed.
static bool items_match(const uint32_t *items, uint32_t count, struct frames frames, uint32_t at)
{
    uint32_t item = 0, gap_item = WIRE_NONE, gap_at = 0;
    while (item < count) {
        if (items[item] == WIRE_STACK_GAP) {
            gap_item = ++item;
            gap_at = at;
        } else if (at == frames.count) {
            return false;
        } else if (query_matches(items[item], frames.pcs[(size_t)at * frames.stride])) {
            item++;
            at++;
        } else if (gap_item == WIRE_NONE) {
            return false;
        } else {
            item = gap_item;
            at = ++gap_at;
        }
    }
    return true;
}

// *ret_depth is the frame that matched, if the answer does not depend on frames further out; else
// it is untouched.
static bool frames_match(const struct wire_stack *stack, const uint32_t *items,
                         struct frames frames, uint32_t *ret_depth)
{
    if (stack->anchored)
        return items_match(items, stack->items.count, frames, 0);
    uint32_t at = 0;
    for (; (at = query_find(items[0], frames.pcs, frames.stride, at, frames.count)) < frames.count;
         at++) {
        if (stack->items.count == 1)
            *ret_depth = at;
        if (stack->items.count == 1 || items_match(items, stack->items.count, frames, at))
            return true;
    }
    return false;
}

static const uint32_t *stack_items(const struct wire_stack *stack)
{
    return (const uint32_t *)plan_array(runtime.plan->stack_items) + stack->items.offset;
}

// The positions in a list of items that a walk may be at, one bit each: the items before a position
// have matched. One frame after the other, so that the frames need no room.
_Static_assert(WIRE_STACK_ITEMS < 64, "one bit for each position");

// After a gap comes what follows it, without a frame.
static uint64_t positions_after_gaps(const uint32_t *items, uint32_t count, uint64_t positions)
{
    for (uint32_t i = 0; i < count; i++)
        if ((positions >> i & 1) != 0 && items[i] == WIRE_STACK_GAP)
            positions |= 2ull << i;
    return positions;
}

static uint64_t positions_after_frame(const uint32_t *items, uint64_t positions, uint64_t pc)
{
    uint64_t after = 0;
    for (uint64_t left = positions; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (items[i] == WIRE_STACK_GAP)
            after |= 1ull << i;
        else if (query_matches(items[i], pc))
            after |= 2ull << i;
    }
    return after;
}

// Looks at the whole stack. *ret_finished is false if the walk did not come to the end of the stack
// and the answer might be another one.
__attribute__((noinline)) static bool
walk_matches(const struct call *call, const struct wire_stack *stack, bool *ret_finished)
{
    struct walk walk;
    const uint32_t *items = stack_items(stack);
    uint32_t count = stack->items.count, frames = 0;
    uint64_t positions = positions_after_gaps(items, count, 1), all = 1ull << count;
    *ret_finished = true;
    walk_start(&walk, call->frame);
    do {
        positions =
            positions_after_gaps(items, count, positions_after_frame(items, positions, walk.pc));
        if ((positions & all) != 0)
            return true;
        if (stack->anchored && positions == 0)
            return false;
        positions |= !stack->anchored;
    } while (++frames < WALK_FRAMES && walk_next(&walk));
    *ret_finished = walk.finished;
    return false;
}

enum match { MATCH_NO, MATCH_YES, MATCH_UNKNOWN };

// What the last walk tells. If it is not whole, a stack that does not match up to its end may match
// further out.
static enum match last_walk_matches(const struct call *call, const struct wire_stack *stack,
                                    struct call_path *path)
{
    uint32_t depth = WIRE_NONE;
    struct last_walk *last = last_walk_take(call);
    if (last == NULL)
        return MATCH_UNKNOWN;
    struct frames frames = {&last->frames->pc, sizeof(struct walk_step) / sizeof(uint64_t),
                            last->count};
    bool matches = frames_match(stack, stack_items(stack), frames, &depth);
    bool known = matches || last->whole;
    if (path != NULL && known && depth != WIRE_NONE && last_walk_is_simple(last))
        call_path_depends(path, last, depth);
    else if (path != NULL && known)
        call_path_depends_on_all(path);
    last_walk_leave(last);
    return matches ? MATCH_YES : known ? MATCH_NO : MATCH_UNKNOWN;
}

bool stack_look(const struct call *call, uint32_t index, uint32_t rule, struct call_path *path)
{
    const struct wire_stack *stack = plan_stack(index);
    if (path != NULL && !call_path_is_whole(path, call))
        path = NULL;
    enum match match = last_walk_matches(call, stack, path);
    if (match == MATCH_UNKNOWN) {
        bool finished, matches = walk_matches(call, stack, &finished);
        if (!finished)
            rule_walk_unfinished(rule);
        return matches;
    }
    if (path != NULL) {
        uint64_t bit = 1ull << index;
        path->stacks_hold |= match == MATCH_YES ? bit : 0;
        path->stacks_known |= bit;
    }
    return match == MATCH_YES;
}

bool stack_matches(const struct call *call, uint32_t index, uint32_t rule)
{
    const struct wire_stack *stack = plan_stack(index);
    if (stack->anchored && !query_matches(stack_items(stack)[0], call->frame->return_address))
        return false;
    if (stack->anchored && stack->items.count == 1)
        return true;
    return stack_matches_frames(call, index, rule);
}
