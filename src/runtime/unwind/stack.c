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

static bool has_gap(const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (items[i] == WIRE_STACK_GAP)
            return true;
    return false;
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

// Not inlined, like everything with buffers: signal handlers may run on small stacks.
__attribute__((noinline)) static bool walk_matches(const struct call *call,
                                                   const struct wire_stack *stack,
                                                   const uint32_t *items, uint32_t room)
{
    uint64_t pcs[WIRE_FRAMES];
    uint32_t count = walk_collect(call->frame, pcs, room), depth;
    return frames_match(stack, items, (struct frames){pcs, 1, count}, &depth);
}

static const uint32_t *stack_items(const struct wire_stack *stack)
{
    return (const uint32_t *)plan_array(runtime.plan->stack_items) + stack->items.offset;
}

static bool last_walk_matches(const struct call *call, const struct wire_stack *stack,
                              struct call_path *path)
{
    const uint32_t *items = stack_items(stack);
    uint32_t count = stack->items.count, depth = WIRE_NONE;
    struct last_walk *last = last_walk_take(call);
    if (last == NULL) {
        bool all = !stack->anchored || count > WIRE_FRAMES || has_gap(items, count);
        if (path != NULL)
            call_path_depends_on_all(path);
        return walk_matches(call, stack, items, all ? WIRE_FRAMES : count);
    }
    struct frames frames = {&last->frames->pc, sizeof(struct walk_step) / sizeof(uint64_t),
                            last->count};
    bool matches = frames_match(stack, items, frames, &depth);
    if (path != NULL && depth != WIRE_NONE && last_walk_is_simple(last))
        call_path_depends(path, last, depth);
    else if (path != NULL)
        call_path_depends_on_all(path);
    last_walk_leave(last);
    return matches;
}

bool stack_look(const struct call *call, uint32_t index, struct call_path *path)
{
    const struct wire_stack *stack = plan_stack(index);
    if (path == NULL || !call_path_is_whole(path, call))
        return last_walk_matches(call, stack, NULL);
    uint64_t bit = 1ull << index;
    path->stacks_hold |= last_walk_matches(call, stack, path) ? bit : 0;
    path->stacks_known |= bit;
    return (path->stacks_hold & bit) != 0;
}

bool stack_matches(const struct call *call, uint32_t index)
{
    const struct wire_stack *stack = plan_stack(index);
    if (stack->anchored && !query_matches(stack_items(stack)[0], call->frame->return_address))
        return false;
    if (stack->anchored && stack->items.count == 1)
        return true;
    return stack_matches_frames(call, index);
}
