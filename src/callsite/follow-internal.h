// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the files that follow a call's result.
#ifndef ORDEAL_CALLSITE_FOLLOW_INTERNAL_H
#define ORDEAL_CALLSITE_FOLLOW_INTERNAL_H

#include "base/map.h"
#include "callsite/follow.h"

struct follow_path {
    struct machine machine;
    uint64_t alive;      // lanes that come along here
    uint64_t told_apart; // failures that were told apart on the path
    uint32_t block, at;
    uint32_t distance;         // instructions from the call
    bool used;                 // dangerously, while a failure was not told apart
    bool errno_fresh;          // errno is still the call's
    bool asked;                // errno was compared, and only failures come along here
    uint32_t errno_checked_in; // block
};

#define USES 32
struct use_note { // a dangerous use, and who reaches it
    uint64_t key; // an instruction, or whom it is passed to
    uint8_t use;  // enum site_use
    bool by_failure, by_success;
};

#define JOINS 32
struct join { // a block, and who enters it
    uint32_t block;
    bool by_failure, by_success;
    bool failure_first, success_first; // right behind the question, or the check
};

struct follower {
    const struct flow_image *image;
    const struct possible_results *possible;
    struct contents contents;
    struct follow_outcome outcome;
    ARRAY(struct follow_path) paths;
    size_t next;        // of paths: they are taken in the order of their distance, roughly
    struct map seen;    // hashes of states
    struct map similar; // hashes of what matters most of them, the n-th time plus n
    int64_t budget;     // instructions
    uint64_t failures;
    int64_t numbers[CONTENT_LANES];     // of the result
    uint32_t start;                     // block
    uint16_t searched, errno_registers; // registers that held errno's address before the call
    enum follow_mode mode;
    struct follower *inner; // for functions that the result is passed to
    unsigned entered;
    ARRAY(struct branch_lanes) branches; // FOLLOW_BRANCHES
    ARRAY(uint32_t) left;                // likewise
    unsigned use_count;
    struct use_note uses[USES];
    unsigned join_count;      // FOLLOW_RETRY
    struct join joins[JOINS]; // likewise
    bool used_failed;         // likewise: a failure that was asked about is used
};

// follow-event.c: what is worth noting.
void follow_used(struct follower *follower, struct follow_path *path, uint32_t at,
                 enum site_use use);
void follow_passed(struct follower *follower, struct follow_path *path, uint32_t at,
                   uint32_t callee);
void follow_told_apart(struct follower *follower, struct follow_path *path, uint32_t at,
                       uint64_t lanes, bool by_errno);
void follow_returned(struct follower *follower, struct follow_path *path, uint32_t at);
// Failures that are on the path and not told apart.
static inline uint64_t follow_not_told_apart(const struct follower *follower,
                                             const struct follow_path *path)
{
    return path->alive & follower->failures & ~path->told_apart;
}

// Only failures come along, and all of them were told apart.
static inline bool follow_failed(const struct follower *follower, const struct follow_path *path)
{
    return (path->alive & ~follower->failures) == 0;
}

// The first register that hands the result to a function; ISA_NONE if none does.
uint8_t follow_argument(const struct follower *follower, const struct follow_path *path);

// follow.c: into a function that gets the result as an argument. *ret_returned: it gives it back.
_must_check_ struct error *follow_into(struct follower *follower, struct follow_path *path,
                                       uint32_t at, uint32_t function, bool *ret_returned);

// A path that goes on in a block, with some of its lanes.
_must_check_ struct error *follow_go_to(struct follower *follower, const struct follow_path *path,
                                        uint32_t block, uint64_t lanes);

// follow-leave.c: from the last instruction of a block on; and wherever that may lead.
_must_check_ struct error *follow_leave_block(struct follower *follower, struct follow_path *path,
                                              uint32_t at);
_must_check_ struct error *follow_go_on(struct follower *follower, struct follow_path *path);

// follow-seen.c: whether nobody was here in this state, or often enough in a similar one.
_must_check_ struct error *follow_is_new(struct follower *follower, const struct follow_path *path,
                                         bool *ret_new);
_must_check_ struct error *follow_is_enough(struct follower *follower,
                                            const struct follow_path *path, bool *ret_enough);

// follow-step.c: one instruction within a block. *ret_other is filled in when the path forks.
void follow_step(struct follower *follower, struct follow_path *path, uint32_t at,
                 struct follow_path *ret_other, bool *ret_forked);
// Lanes for which a condition holds, and for which it does not; those of neither are in both.
struct split {
    uint64_t yes, no;
    bool equality; // it is asked for one value
};
struct split follow_split(struct follower *follower, const struct follow_path *path,
                          enum isa_condition condition);
// Failures that go another path than some success.
uint64_t follow_apart(const struct follower *follower, const struct follow_path *path,
                      struct split split);

#endif
