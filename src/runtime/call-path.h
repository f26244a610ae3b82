// SPDX-License-Identifier: GPL-3.0-or-later
// Call paths: ways that calls have come before, and what is known about their frames.
#ifndef ORDEAL_RUNTIME_CALL_PATH_H
#define ORDEAL_RUNTIME_CALL_PATH_H

#include "runtime/call.h"
#include "runtime/system.h"

struct last_walk;
struct module;
struct variable_place;

#define CALL_PATH_WORDS  56
#define CALL_PATH_GROUP  4 // words that are compared at a time
#define CALL_PATH_LOCALS 4
#define CALL_PATH_STACKS 64 // of the plan's first stacks, it is kept whether they match

// Where a variable is for calls that come this way: in the innermost frame that has it as a local,
// else in a module's data.
struct found_variable {
    uint32_t variable;
    enum { FOUND_NOWHERE, FOUND_AT_ADDRESS, FOUND_IN_SAVED_REGISTER, FOUND_IN_REGISTER } kind;
    const struct variable_place *place;
    const struct module *module;
    uint64_t base; // the address; or where the register was saved; or its word in the call's frame
};

struct call_path_words {
    uint16_t at[CALL_PATH_GROUP]; // in words from the stack pointer
    uint64_t values[CALL_PATH_GROUP];
};

// In the order that a call needs it: a line of memory that is not in the cache takes as long as
// many instructions.
struct call_path {
    uint32_t taken;
    uint32_t generation;  // unwind_generation when it was made
    uint64_t pc, sp, rbp; // that a call starts from
    uint64_t end;         // of the part of the stack that the words are in
    uint64_t stacks_known, stacks_hold;
    uint8_t groups;      // of words; the last one repeats its last word
    uint8_t needed;      // the first groups, that all that is known depends on
    uint8_t local_count; // of `locals`
    bool needs_rbp;
    struct call_path_words words[CALL_PATH_WORDS / CALL_PATH_GROUP];
    struct found_variable locals[CALL_PATH_LOCALS];
    // Where calls of a slot that come this way are counted, by a process.
    uint64_t *recorded, recorded_slot, recorded_by;
} __attribute__((aligned(64)));

struct call_path *call_path_find(const struct call *call);

// The call's path, found once for all its rules. What is known about it holds. NULL: somebody else
// is using it, or the stack is not a simple one.
static inline struct call_path *call_path_of(const struct call *call)
{
    struct call_cache *cache = call->cache;
    if (!cache->looked) {
        cache->looked = true;
        cache->path = call_path_find(call);
    }
    return cache->path;
}

// To be asked before anything new is found out: compares all words, and starts the path anew if
// they differ. False: that failed, and the path was left.
bool call_path_is_whole(struct call_path *path, const struct call *call);
// What is found out now depends on the frames up to number `depth`.
void call_path_depends(struct call_path *path, const struct last_walk *last, uint32_t depth);
void call_path_depends_on_all(struct call_path *path);

// Gives the path back: before foreign code runs, and when the call is decided.
static inline void call_path_leave(const struct call *call)
{
    struct call_cache *cache = call->cache;
    if (cache->path != NULL)
        atomic_store(&cache->path->taken, 0);
    *cache = (struct call_cache){0};
}

#endif
