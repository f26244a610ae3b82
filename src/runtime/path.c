// SPDX-License-Identifier: GPL-3.0-or-later
// Paths: ways that calls have come before. A call from the same place with the stack pointer at the
// same address has the same frames if the words that they were read from are the same; comparing
// those is all that is left to do then, and what was found out about the frames still holds.
#include "runtime/path.h"

struct path paths[PATHS];

// Whether the words up to `end` can be read: they are on the thread's own stack.
static bool stack_reaches(const struct call *call, uint64_t end)
{
    uint64_t sp = (uint64_t)call->frame->stack;
    if (sp < runtime.stack_top && sp > runtime.stack_top - WALK_REACH)
        return end <= runtime.stack_top;
    return call->thread->stack_low <= sp && end <= call->thread->stack_high;
}

static bool path_holds(const struct path *path, const struct call *call)
{
    uint64_t sp = (uint64_t)call->frame->stack;
    if (path->sp != sp || path->pc != call->frame->return_address ||
        (path->needs_rbp && path->rbp != call->frame->rbp) || !stack_reaches(call, path->end))
        return false;
    const struct path_word *word = path->words, *end = word + path->count;
    for (; word < end; word++)
        if (*(const uint64_t *)word->address != word->value)
            return false;
    return true;
}

static bool put_word(struct path *path, uint64_t address, uint64_t value)
{
    if (path->count == PATH_WORDS)
        return false;
    path->words[path->count++] = (struct path_word){address, value};
    return true;
}

// Of the frame pointers that were saved, only those matter that a frame further out is found by.
static bool put_frames(struct path *path, const struct trail *trail)
{
    const struct trail_step *steps = trail->frames;
    uint64_t saved = 0, rbp = steps[0].rbp;
    bool pending = true; // the frame pointer that is in force has no word yet
    for (uint32_t i = 0; i + 1 < trail->count; i++) {
        if (steps[i].by_rbp && pending) {
            path->needs_rbp |= saved == 0;
            pending = false;
            if (saved != 0 && !put_word(path, saved, rbp))
                return false;
        }
        if (steps[i].saved_rbp != 0) {
            saved = steps[i].saved_rbp;
            rbp = steps[i + 1].rbp;
            pending = true;
        }
        if (!put_word(path, steps[i + 1].sp - 8, steps[i + 1].pc))
            return false;
    }
    path->end = steps[trail->count - 1].sp;
    if (trail->ended && trail->end != 0) {
        path->end = trail->end;
        return put_word(path, trail->end - 8, 0);
    }
    return true;
}

static bool path_make(struct path *path, const struct call *call)
{
    struct trail *trail = trail_take(call);
    if (trail == NULL)
        return false;
    path->pc = call->frame->return_address;
    path->sp = (uint64_t)call->frame->stack;
    path->rbp = call->frame->rbp;
    path->needs_rbp = false;
    path->count = path->local_count = 0;
    path->stacks_known = path->stacks_hold = 0;
    path->recorded = NULL;
    path->generation = trail->generation;
    bool made = trail_is_plain(trail) && put_frames(path, trail);
    trail_leave(trail);
    return made && stack_reaches(call, path->end);
}

// Whether it is the call's path now, after a look at all of it.
bool path_check(struct path *path, const struct call *call)
{
    bool valid = path->generation == atomic_load(&unwind_generation);
    if ((!valid || !path_holds(path, call)) && !path_make(path, call)) {
        path->generation = 0;
        path_leave(path);
        return false;
    }
    path->function = call->function;
    path->occurrence = call->occurrence;
    return true;
}
