// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the search share. A *story* is a way out of the function, followed from its end
// backwards: where the result is at this point or what it is, the same for errno, and what is known
// about other places. A story forks where ways meet and ends when everything is known or the
// function begins.
#ifndef ORDEAL_PROFILE_SEARCH_INTERNAL_H
#define ORDEAL_PROFILE_SEARCH_INTERNAL_H

#include "profile/place.h"
#include "profile/search.h"

#define OPERATIONS 3
#define KNOWN      3
#define PENDING    2

enum tracked_state { TRACKED_NOTHING, TRACKED_PLACE, TRACKED_VALUE };
struct tracked {
    uint8_t state;
    uint8_t operation_count;
    struct place place;
    struct operation operations[OPERATIONS]; // the last is applied first
    struct value value;
};

struct known { // bounds of a place at this point
    struct place place;
    struct bounds bounds;
};

struct pending { // a condition that is known to hold; its flags are set further back
    uint32_t fact;
    struct known known;
};

struct story {
    uint32_t block, at; // the next instruction to look at is the one before `at`
    struct tracked result, error;
    uint8_t known_count, pending_count, effect_count;
    struct known known[KNOWN];
    struct pending pending[PENDING];
    struct effect effects[OUTCOME_EFFECTS];
    uint64_t evidence;
    uint32_t result_block; // where the result became known, or FLOW_NONE
};

struct search {
    const struct flow_image *image;
    const struct search_world *world;
    uint32_t function;
    struct summary *summary;
    ARRAY(struct story) work;
    uint64_t *seen; // open addressing, hashes
    size_t seen_count, seen_room;
    uint64_t budget;
    bool errors; // whether errno is of interest
};

// search-story.c: what a story knows, and states that were met before.
struct error *search_push(struct search *search, const struct story *story);
struct error *search_is_new(struct search *search, const struct story *story, bool *ret_new);
// The end of a story.
struct error *search_tell(struct search *search, const struct story *story);
struct value value_constant(int64_t number);
void tracked_set(struct tracked *tracked, struct value value);
void tracked_set_other(struct tracked *tracked);
void story_add_known(struct story *story, const struct known *known);
void story_forget(struct story *story, unsigned index); // a known one
// Remembers where the result became known, if it just did.
void story_note_result(struct search *search, struct story *story, uint32_t at);

// search-step.c: one instruction back. *ret_ended: the story cannot be, or goes on as others.
struct error *search_step(struct search *search, struct story *story, uint32_t at, bool *ret_ended);
// What a condition that held says about the flags' makings, from here on backwards.
void search_add_pending(struct search *search, struct story *story, uint32_t before,
                        enum isa_condition condition);
bool search_is_store(const struct isa_fact *fact);

// search-call.c: calls and system calls.
struct error *search_step_call(struct search *search, struct story *story, uint32_t at,
                               bool *ret_forked);
struct error *search_step_system_call(struct search *search, struct story *story, uint32_t at,
                                      bool *ret_forked);
// One of the callee's ways is part of this story.
struct error *search_go_through(struct search *search, const struct story *story,
                                const struct way *way, uint32_t at);

#endif
