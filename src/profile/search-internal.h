// SPDX-License-Identifier: GPL-3.0-or-later
// What the files search*.c share. The search goes backwards from every return of the function. A
// *state* is a point on a path: which place holds the result there or what the result is, the same
// for errno, and what is known about other places. A state forks where paths meet. It ends when
// everything is known or the function's beginning is reached.
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

struct pending { // a condition that holds; the instruction that sets its flags is further back
    uint32_t insn;
    bool after; // the bounds are of the result of that instruction
    struct known known;
};

struct search_state {
    uint32_t block, at; // the next instruction to look at is the one before `at`
    uint8_t stored_effect;
    uint8_t blocks; // since the result became known
    uint16_t after; // enum outcome_after
    uint8_t known_count, pending_count, effect_count;
    bool at_entry;         // the function's beginning is reached
    bool narrowed;         // the errors are only these because of the value of an argument
    bool taken;            // the result was read from memory, as it is there or with an offset
    uint8_t flags_hold;    // enum isa_condition: holds for the flags at the beginning of the block
    uint32_t result_block; // where the result became known, or FLOW_NONE
    uint64_t evidence;
    struct tracked result, error;
    struct tracked stored; // what effect `stored_effect` stores, until that is known
    struct known known[KNOWN];
    struct pending pending[PENDING]; // from here on seldom used, see search_state_copy()
    struct effect effects[OUTCOME_EFFECTS];
};

// States are large and are copied wherever paths meet, so unused fields at the end are not copied.
// The compiler must not see the size: then it calls memcpy(), which is several times as fast as the
// `rep movs` that it would put here.
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
    struct map seen;      // hashes of states
    ARRAY(int32_t) taken; // stack slots whose address the function takes somewhere
    bool taken_known;     // `taken` is filled in
    uint64_t budget;
    bool errors; // the function may set errno
    bool coarse; // there are too many states, so conditions and effects are ignored from now on
    bool through_checked; // like through_pointer of the summary, but it is known not to be NULL
    bool setter;          // the function is small: its effects matter whatever it returns
    // Of the callee whose outcomes are applied:
    bool primitive;    // it is a system function
    bool fails_forced; // see search-call.c
    bool computed;     // as in its summary
};

// search-state.c: changes to states, and states that were met before.
_must_check_ struct error *search_push(struct search *search, const struct search_state *state);
_must_check_ struct error *search_is_new(struct search *search, const struct search_state *state,
                                         bool *ret_new);
// Ends a state: adds an outcome to the summary.
_must_check_ struct error *search_add_outcome(struct search *search,
                                              const struct search_state *state);
struct value value_constant(int64_t number);
// Sets the value, with the operations applied that were met so far.
void tracked_set(const struct search *search, struct tracked *tracked, struct value value);
void tracked_set_other(struct tracked *tracked);
bool tracked_in(const struct tracked *tracked, struct place place);
// Fills in the value of an effect once it is known.
void search_state_settle_stored(struct search_state *state);
void search_state_add_known(struct search_state *state, const struct known *known);
void search_state_forget(struct search_state *state, unsigned index); // index in `known`
// Forgets conditions and effects, which only increase the number of states.
void search_state_simplify(struct search_state *state);
// Records where the result became known, if it just did.
void search_state_note_result(struct search *search, struct search_state *state, uint32_t at);

// search-step.c: one instruction back. *ret_ended: the state is impossible, or others continue it.
_must_check_ struct error *search_step(struct search *search, struct search_state *state,
                                       uint32_t at, bool *ret_ended);
// Adds what a condition that held says about the operands of the instruction that set the flags.
void search_add_pending(struct search *search, struct search_state *state, uint32_t before,
                        enum isa_condition condition);
bool search_is_store(const struct isa_insn *insn);
// Effects are looked for up to this many blocks before the block that sets the result.
#define NEAR_BLOCKS 2
// Conditions are looked at for a few blocks more.
#define CONDITION_BLOCKS 4
static inline bool search_state_is_near(const struct search_state *state)
{
    return state->blocks <= NEAR_BLOCKS;
}
// Whether the call is known whose result decided for this path.
static inline bool search_state_came_after(const struct search_state *state)
{
    const unsigned others = OUTCOME_AFTER_REPORT | OUTCOME_GIVES | OUTCOME_FORCED | OUTCOME_MISUSE;
    return (state->after & ~others) != 0;
}
// Adds an effect. NULL if there is no room or a later store overwrites it.
struct effect *search_state_add_effect(struct search_state *state, const struct effect *effect);
// Adds an effect whose value is in a register.
void search_state_follow_stored(struct search_state *state, const struct effect *effect,
                                uint8_t reg);

// search-call.c: calls.
_must_check_ struct error *search_step_call(struct search *search, struct search_state *state,
                                            uint32_t at, bool *ret_forked);
// Forgets registers (a mask) that are overwritten.
void tracked_clobber(struct tracked *tracked, uint32_t registers);
void search_state_clobber_known(struct search_state *state, uint32_t registers);
void search_state_clobber(struct search_state *state, uint32_t registers);
// Whether what is known of a call's result allows a value; whether the state needs the result.
bool search_allows(const struct search *search, const struct search_state *state,
                   const struct value *value);
bool search_state_asks_result(const struct search_state *state);
// Adds a state in which the callee had this outcome, in front of the call.
_must_check_ struct error *search_apply_outcome(struct search *search,
                                                const struct search_state *state,
                                                const struct return_outcome *outcome, uint32_t at);
// The same, if a condition holds in front of the call; NULL: always.
_must_check_ struct error *search_apply_outcome_when(struct search *search,
                                                     const struct search_state *state,
                                                     const struct return_outcome *outcome,
                                                     uint32_t at, const struct known *condition);

// If the function returns what the callee of a block returns, and that is called through a pointer,
// notes it.
void search_note_pointer(struct search *search, const struct search_state *state,
                         const struct flow_block *block, const struct summary *callee);
// Takes over a value of a callee. Its arguments are what the call passes.
void tracked_take(struct search *search, struct tracked *tracked, struct value value);

// search-result.c: which outcomes of a callee there are.
// Adds a state for the outcome at an index, as search_apply_outcome() does. A callee that returns
// its argument, whether that is NULL or not, has one outcome: the argument.
_must_check_ struct error *search_apply_result(struct search *search,
                                               const struct search_state *state,
                                               const struct summary *callee, size_t index,
                                               uint32_t at);
// If the block calls through a table of functions, adds states for all outcomes of those it may
// call. *ret_known: there are such.
_must_check_ struct error *search_apply_targets(struct search *search,
                                                const struct search_state *state, uint32_t at,
                                                bool *ret_known);

// search-error.c: values that are read from errno.
// Like place_step(), and knows errno.
struct step search_place_step(const struct search *search, const struct flow_block *block,
                              uint32_t at, struct place place);
// Like place_bounds(), for an instruction that compares errno with a number.
bool search_error_bounds(const struct search *search, const struct flow_block *block, uint32_t at,
                         enum isa_condition condition, struct known_bounds *ret_bounds);
bool search_state_asks_error(const struct search_state *state);
bool search_is_errno_location(const struct flow_image *image, uint32_t callee);
// Reduces what a call leaves in errno to what the conditions on errno allow.
_must_check_ struct error *search_error_within(struct search *search,
                                               const struct search_state *state,
                                               struct value *value, bool *ret_possible);
// errno has this value in front of what was looked at; or it is unknown.
void search_state_set_error(struct search *search, struct search_state *state, struct value value);
void search_state_lose_error(const struct search *search, struct search_state *state);

// search-system-call.c.
_must_check_ struct error *search_step_system_call(struct search *search,
                                                   struct search_state *state, uint32_t at,
                                                   bool *ret_forked);

#endif
