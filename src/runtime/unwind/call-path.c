// SPDX-License-Identifier: GPL-3.0-or-later
// Call paths: ways that calls have come before. A call from the same place with the same stack
// pointer has the same frames if the words they were read from are the same. Comparing those words
// is then enough, and what was found out about the frames still holds. Only the words that this
// depends on are compared: a fact about a frame does not depend on frames further out.
#include "runtime/call-path.h"

#include "runtime/call.h"
#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

// Given out one after the other, so that the few that most programs have stand close together.
#define CALL_PATHS 255
struct call_path call_paths[CALL_PATHS];
static uint32_t call_paths_given;
static uint8_t call_path_numbers[256]; // by hash, from 1; 0: none yet

_Static_assert(offsetof(struct call_path, words) == 64, "what comes first is one line");

// Whether the words up to `end` are on the thread's own stack, and so can be read.
static inline bool stack_reaches(const struct call *call, uint64_t end)
{
    uint64_t sp = (uint64_t)call->frame->stack;
    if (sp < runtime.stack_top && sp > runtime.stack_top - WALK_REACH)
        return end <= runtime.stack_top;
    return call->thread->stack_low <= sp && end <= call->thread->stack_high;
}

static inline bool words_hold(const struct call_path *path, uint32_t from, uint32_t to)
{
    const uint64_t *stack = (const uint64_t *)path->sp;
    const struct call_path_words *words = path->words + from, *end = path->words + to;
    for (; words < end; words++) {
        uint64_t wrong = stack[words->at[0]] ^ words->values[0];
        wrong |= stack[words->at[1]] ^ words->values[1];
        wrong |= stack[words->at[2]] ^ words->values[2];
        wrong |= stack[words->at[3]] ^ words->values[3];
        if (wrong != 0)
            return false;
    }
    return true;
}

static inline bool call_path_holds(const struct call_path *path, const struct call *call)
{
    return path->sp == (uint64_t)call->frame->stack && path->pc == call->frame->return_address &&
           (!path->needs_rbp || path->rbp == call->frame->rbp) && stack_reaches(call, path->end) &&
           words_hold(path, 0, path->needed);
}

// While a path is made, `needed` counts its words, not groups.
static bool put_word(struct call_path *path, uint64_t address, uint64_t value)
{
    uint64_t at = (address - path->sp) / sizeof value;
    if (path->needed == CALL_PATH_WORDS || at > UINT16_MAX)
        return false;
    struct call_path_words *words = &path->words[path->needed / CALL_PATH_GROUP];
    for (uint32_t i = path->needed++ % CALL_PATH_GROUP; i < CALL_PATH_GROUP; i++) {
        words->at[i] = (uint16_t)at;
        words->values[i] = value;
    }
    return true;
}

// Of the saved frame pointers, only those matter that a frame further out is found by.
static bool put_frames(struct call_path *path, const struct last_walk *last)
{
    const struct walk_step *steps = last->frames;
    uint64_t saved = 0, rbp = steps[0].rbp;
    bool pending = true; // the current frame pointer has no word yet
    for (uint32_t i = 0; i + 1 < last->count; i++) {
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
    path->end = steps[last->count - 1].sp;
    if (last->ended && last->end != 0) {
        path->end = last->end;
        return put_word(path, last->end - 8, 0);
    }
    return true;
}

__attribute__((noinline)) static bool call_path_make(struct call_path *path,
                                                     const struct call *call)
{
    struct last_walk *last = last_walk_take(call);
    path->generation = 0;
    if (last == NULL)
        return false;
    path->pc = call->frame->return_address;
    path->sp = (uint64_t)call->frame->stack;
    path->rbp = call->frame->rbp;
    path->needs_rbp = false;
    path->needed = path->local_count = 0;
    path->stacks_known = path->stacks_hold = 0;
    path->recorded = NULL;
    bool made =
        last_walk_is_simple(last) && put_frames(path, last) && stack_reaches(call, path->end);
    path->groups = (uint8_t)((path->needed + CALL_PATH_GROUP - 1) / CALL_PATH_GROUP);
    path->needed = 0;
    path->generation = made ? last->generation : 0;
    last_walk_leave(last);
    call->cache->whole = made;
    return made;
}

// The path for a hash. NULL: all paths are given out.
static inline struct call_path *call_path_at(uint64_t key)
{
    uint8_t *number = &call_path_numbers[key * 0x9e3779b97f4a7c15ull >> 56],
            found = atomic_load(number);
    if (__builtin_expect(found == 0, 0)) {
        uint32_t next =
            call_paths_given < CALL_PATHS ? atomic_add(&call_paths_given, 1) : CALL_PATHS;
        if (next >= CALL_PATHS)
            return NULL;
        atomic_swap_if(number, 0, (uint8_t)(next + 1));
        found = atomic_load(number);
    }
    return &call_paths[found - 1];
}

// A call that finds the path taken does without it. With a single thread, only its own signal
// handlers can come in between, and an instruction without a lock prefix is enough.
static inline bool call_path_claim(struct call_path *path)
{
    if (!*runtime_single_threaded)
        return atomic_swap_if(&path->taken, 0, 1);
    uint32_t free = 0;
    bool claimed;
    __asm__ volatile("cmpxchgl %3, %1"
                     : "=@ccz"(claimed), "+m"(path->taken), "+a"(free)
                     : "r"(1)
                     : "memory");
    return claimed;
}

__attribute__((hot)) struct call_path *call_path_find(const struct call *call)
{
    uint64_t key = call->frame->return_address + 31 * (uint64_t)call->frame->stack;
    struct call_path *path = call_path_at(key + (uint64_t)call->thread);
    if (path == NULL || !call_path_claim(path))
        return NULL;
    if (path->generation == atomic_load(&unwind_generation) && call_path_holds(path, call))
        return path;
    if (call_path_make(path, call))
        return path;
    atomic_store(&path->taken, 0);
    return NULL;
}

bool call_path_is_whole(struct call_path *path, const struct call *call)
{
    struct call_cache *cache = call->cache;
    if (!cache->whole)
        cache->whole = words_hold(path, path->needed, path->groups) || call_path_make(path, call);
    if (!cache->whole) {
        atomic_store(&path->taken, 0);
        cache->path = NULL;
    }
    return cache->whole;
}

void call_path_depends(struct call_path *path, const struct last_walk *last, uint32_t depth)
{
    uint32_t end = path->groups * CALL_PATH_GROUP, needed = 0;
    uint64_t at = (last->frames[depth].sp - 8 - path->sp) / sizeof(uint64_t);
    if (depth == 0)
        return;
    while (needed < end && path->words[needed / CALL_PATH_GROUP].at[needed % CALL_PATH_GROUP] != at)
        needed++;
    needed = needed < end ? needed / CALL_PATH_GROUP + 1 : path->groups;
    path->needed = needed > path->needed ? (uint8_t)needed : path->needed;
}

void call_path_depends_on_all(struct call_path *path)
{
    path->needed = path->groups;
}
