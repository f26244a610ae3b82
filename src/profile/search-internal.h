// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the search share. A *state* is a way out of the function, followed from its end
// backwards: where the result is at this point or what it is, the same for errno, and what is known
// about other places. A state forks where ways meet and ends when everything is known or the
// function begins.
#ifndef ORDEAL_PROFILE_SEARCH_INTERNAL_H
#define ORDEAL_PROFILE_SEARCH_INTERNAL_H

#include "base/map.h"
#include "profile/place.h"
#include "profile/search.h"

#include <stddef.h>
#include <string.h>

#define OPERATIONS 4
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
    uint32_t insn;
    bool after; // of the result of that instruction
    struct known known;
};

struct search_state {
    uint32_t block, at; // the next instruction to look at is the one before `at`
    uint8_t stored_effect;
    uint8_t blocks; // since the result became known
    uint8_t after;  // enum way_after
    uint8_t known_count, pending_count, effect_count;
    bool at_entry;         // the function begins here
    bool narrowed;         // what is known of an argument is why the errors are these
    uint32_t result_block; // where the result became known, or FLOW_NONE
    uint64_t evidence;
    struct tracked result, error;
    struct tracked stored; // what effect number `stored_effect` stores, until that is known
    struct known known[KNOWN];
    struct pending pending[PENDING]; // from here on: seldom there, see search_state_copy()
    struct effect effects[OUTCOME_EFFECTS];
};

// Stories are large and copied wherever ways meet: what is not there is not copied. A size that the
// compiler does not see makes it call memcpy(), which is several times as fast as the `rep movs` it
// would put here.
static inline void search_state_copy(struct search_state *to, const struct search_state *from)
{
    bool all = (from->pending_count | from->effect_count) != 0;
    size_t size = all ? sizeof *to : offsetof(struct search_state, pending);
    __asm__("" : "+r"(size));
    memcpy(to, from, size);
}

struct search {
    const struct flow_image *image;
    const struct search_context *context;
    uint32_t function;
    struct summary *summary;
    ARRAY(struct search_state) work;
    struct map seen; // hashes of states
    uint64_t budget;
    bool errors; // whether errno is of interest
    bool coarse; // too many states were met: conditions and effects are not looked at any more
    bool setter; // small enough to be one whose effects matter, whatever it returns
};

// search-state.c: what a state knows, and states that were met before.
_must_check_ struct error *search_push(struct search *search, const struct search_state *state);
_must_check_ struct error *search_is_new(struct search *search, const struct search_state *state,
                                         bool *ret_new);
// The end of a state.
_must_check_ struct error *search_add_outcome(struct search *search,
                                              const struct search_state *state);
struct value value_constant(int64_t number);
// Applies the operations that were met.
void tracked_set(const struct search *search, struct tracked *tracked, struct value value);
void tracked_set_other(struct tracked *tracked);
bool tracked_in(const struct tracked *tracked, struct place place);
// The value of an effect, once it is known.
void search_state_settle_stored(struct search_state *state);
void search_state_add_known(struct search_state *state, const struct known *known);
void search_state_forget(struct search_state *state, unsigned index); // a known one
// Forgets what only multiplies states: conditions and effects.
void search_state_simplify(struct search_state *state);
// Remembers where the result became known, if it just did.
void search_state_note_result(struct search *search, struct search_state *state, uint32_t at);

// search-step.c: one instruction back. *ret_ended: the state cannot be, or goes on as others.
_must_check_ struct error *search_step(struct search *search, struct search_state *state,
                                       uint32_t at, bool *ret_ended);
// What a condition that held says about the flags' makings, from here on backwards.
void search_add_pending(struct search *search, struct search_state *state, uint32_t before,
                        enum isa_condition condition);
bool search_is_store(const struct isa_insn *insn);
// Effects are looked for from here on backwards to this many blocks before the result's.
#define NEAR_BLOCKS 2
// Conditions matter a little longer.
#define CONDITION_BLOCKS 4
static inline bool search_state_is_near(const struct search_state *state)
{
    return state->blocks <= NEAR_BLOCKS;
}
// Whether it is known what decided that it is this way.
static inline bool search_state_came_after(const struct search_state *state)
{
    return (state->after & ~(unsigned)OUTCOME_AFTER_REPORT) != 0;
}
// Makes room for an effect; NULL if there is none or a later store overwrites it.
struct effect *search_state_add_effect(struct search_state *state, const struct effect *effect);
// An effect whose value is in a register.
void search_state_follow_stored(struct search_state *state, const struct effect *effect,
                                uint8_t reg);

// search-call.c: calls.
_must_check_ struct error *search_step_call(struct search *search, struct search_state *state,
                                            uint32_t at, bool *ret_forked);
// Registers (bits) that something else is put into.
void tracked_clobber(struct tracked *tracked, uint32_t registers);
void search_state_clobber_known(struct search_state *state, uint32_t registers);
void search_state_clobber(struct search_state *state, uint32_t registers);
// Whether what is known of a call's result allows this one; whether the result matters at all.
bool search_allows(const struct search *search, const struct search_state *state,
                   const struct value *value);
bool search_state_asks_result(const struct search_state *state);
// One of the callee's ways is part of this state.
_must_check_ struct error *search_go_through(struct search *search,
                                             const struct search_state *state,
                                             const struct return_outcome *outcome, uint32_t at);
// Likewise, and only if this is true in front of the call; or NULL.
_must_check_ struct error *search_go_through_when(struct search *search,
                                                  const struct search_state *state,
                                                  const struct return_outcome *outcome, uint32_t at,
                                                  const struct known *condition);

// search-system-call.c.
_must_check_ struct error *search_step_system_call(struct search *search,
                                                   struct search_state *state, uint32_t at,
                                                   bool *ret_forked);

#endif
