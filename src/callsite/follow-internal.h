// SPDX-License-Identifier: GPL-3.0-or-later
// What the files follow*.c share: paths, the state of a follower, and one group of functions per
// file.
#ifndef ORDEAL_CALLSITE_FOLLOW_INTERNAL_H
#define ORDEAL_CALLSITE_FOLLOW_INTERNAL_H

#include "base/map.h"
#include "callsite/ending.h"
#include "callsite/follow.h"

struct follow_path {
    struct machine machine;
    uint64_t alive;      // lanes that are possible on this path
    uint64_t told_apart; // failures that were told apart on the path
    uint32_t block, at;
    uint32_t distance;         // instructions from the call
    bool used;                 // in a dangerous way, while a failure was not told apart
    bool errno_fresh;          // no call since then may have changed errno
    bool errno_checked;        // errno was compared, and only failures come along here
    uint32_t errno_checked_in; // block
};

#define FOLLOW_ARGUMENTS 6
#define USES             32
struct use_note { // a dangerous use, and which lanes reach it
    uint64_t key; // an instruction, or the callee and argument it is passed as
    uint8_t use;  // enum site_use
    bool by_failure, by_success;
};

#define JOINS 32
struct join { // a block, and which lanes enter it
    uint32_t block;
    bool by_failure, by_success;
    bool failure_first, success_first; // right after errno was compared, or the result
};

struct follower {
    const struct flow_image *image;
    const struct possible_results *possible;
    struct contents contents;
    struct follow_outcome outcome;
    ARRAY(struct follow_path) paths;
    size_t next;        // in `paths`; they are taken roughly in the order of their distance
    struct map seen;    // hashes of states
    struct map similar; // hashes of the most important part of states; n is added the n-th time
    int64_t budget;     // instructions left
    uint64_t failures;
    int64_t numbers[CONTENT_LANES];    // of the result
    uint16_t passed[FOLLOW_ARGUMENTS]; // contents of the call's arguments
    uint32_t start;                    // block that ends with the call
    // Registers that held errno's address before the call, and those that were checked for it.
    uint16_t searched, errno_registers;
    enum follow_mode mode;
    struct follower *inner; // for functions that the result is passed to
    struct endings endings;
    unsigned entered;
    ARRAY(struct branch_lanes) branches; // FOLLOW_BRANCHES
    ARRAY(uint32_t) left; // FOLLOW_BRANCHES: where successes are not followed further
    unsigned use_count;
    struct use_note uses[USES];
    unsigned join_count;      // FOLLOW_RETRY
    struct join joins[JOINS]; // FOLLOW_RETRY
    bool used_failed;         // FOLLOW_RETRY: a failure whose errno was compared is used
};

// follow-event.c: records what happens to the result at instruction `at`.
void follow_used(struct follower *follower, struct follow_path *path, uint32_t at,
                 enum site_use use);
void follow_passed(struct follower *follower, struct follow_path *path, uint32_t at,
                   uint32_t callee);
void follow_told_apart(struct follower *follower, struct follow_path *path, uint32_t at,
                       uint64_t lanes, bool by_errno);
void follow_returned(struct follower *follower, struct follow_path *path, uint32_t at);
// Whether a function accepts a failed result without harm.
bool follow_is_harmless(const struct flow_image *image, uint32_t callee);
// Whether the result may be a character. A count may be one, too, but nobody asks whether it is a
// digit.
static inline bool follow_is_character(const struct possible_results *possible)
{
    return possible->ordinary >= 0 && !possible->by_errno && !possible->lenient;
}
// Failures that are possible on the path and were not told apart.
static inline uint64_t follow_not_told_apart(const struct follower *follower,
                                             const struct follow_path *path)
{
    return path->alive & follower->failures & ~path->told_apart;
}

// Whether only failures are possible on the path.
static inline bool follow_failed(const struct follower *follower, const struct follow_path *path)
{
    return (path->alive & ~follower->failures) == 0;
}

// The registers in which arguments are passed, in their order.
extern const uint8_t follow_arguments[FOLLOW_ARGUMENTS];
// The first argument register that holds the result, or ISA_NONE.
uint8_t follow_argument(const struct follower *follower, const struct follow_path *path);

// follow.c: follows the result into a function that gets it as an argument. *ret_returned: the
// function returns it.
_must_check_ struct error *follow_into(struct follower *follower, struct follow_path *path,
                                       uint32_t at, uint32_t function, bool *ret_returned);

// Adds a path that goes on at the beginning of a block, with some of the lanes.
_must_check_ struct error *follow_go_to(struct follower *follower, const struct follow_path *path,
                                        uint32_t block, uint64_t lanes);

// follow-leave.c: leaves a block at its last instruction; goes on to all successors.
_must_check_ struct error *follow_leave_block(struct follower *follower, struct follow_path *path,
                                              uint32_t at);
_must_check_ struct error *follow_go_on(struct follower *follower, struct follow_path *path);

// follow-seen.c: whether no path was here in this state; whether enough were in a similar one.
_must_check_ struct error *follow_is_new(struct follower *follower, const struct follow_path *path,
                                         bool *ret_new);
_must_check_ struct error *follow_is_enough(struct follower *follower,
                                            const struct follow_path *path, bool *ret_enough);

// follow-step.c: executes one instruction within a block. If the path forks, *ret_other is the
// other path.
void follow_step(struct follower *follower, struct follow_path *path, uint32_t at,
                 struct follow_path *ret_other, bool *ret_forked);

// follow-split.c: lanes for which a condition holds, and for which it does not. A lane that is
// undecided is in both.
struct split {
    uint64_t yes, no;
    uint64_t sifted; // lanes that go another way than values that no lane stands for
    bool equality;   // the condition compares with one value
    bool one;        // one success on the other side is enough if it is unknown which is usual
};
struct split follow_split(struct follower *follower, const struct follow_path *path,
                          enum isa_condition condition);
// Failures that a condition tells apart from success. Also records those that it sifts.
uint64_t follow_apart(struct follower *follower, const struct follow_path *path,
                      struct split split);

#endif
