// SPDX-License-Identifier: GPL-3.0-or-later
// Following the result of one call along all paths from it.
#ifndef ORDEAL_CALLSITE_FOLLOW_H
#define ORDEAL_CALLSITE_FOLLOW_H

#include "callsite/machine.h"
#include "callsite/site.h"

// The results that are followed: failures first, then examples of success.
struct possible_results {
    unsigned lanes;
    uint64_t failures;  // lanes
    uint64_t successes; // lanes of successes that count: to be told apart from one is enough
    int64_t numbers[CONTENT_LANES];
    bool lenient; // it is not known which of the successes is the usual one
    int ordinary; // lane of a success that equals no constant it is compared with; or -1
    int full;     // lane of a success that is as long as was asked for; or -1
};
void possible_results_make(const struct site_callee *callee, struct possible_results *ret_possible);

// What was found. Masks are of lanes.
struct follow_outcome {
    uint64_t told_apart; // failures that were told apart from success
    uint64_t errors;     // of these, by errno
    uint64_t called_on;  // of these, in a function that it was passed on to
    uint64_t check_address, use_address;
    uint32_t check_distance, use_distance; // instructions from the call
    uint8_t use;                           // enum site_use
    uint8_t argument;
    uint32_t passed_to;
    bool dangerous;     // used before it was told apart
    bool checked_after; // told apart only after that
    bool cut;           // the budget was not enough
    bool lost;          // the path leads somewhere unknown
    bool dies;          // a failure leads where nothing comes back from
    bool value_used;    // FOLLOW_SUCCESS: a success is used for its value
    bool retried;       // a failure leads back to the call if errno says so
    bool interrupted;   // FOLLOW_RETRY: with another errno, it is used as a success is
    bool forgotten;     // likewise: it goes where successes go, and nobody looks at it there
    bool handed_back;   // likewise: but for the function's callers, if it has a result
    // What the function returns: lanes and numbers, and those lanes that return as they are.
    uint64_t returned, returned_known, returned_same;
    uint64_t returned_not_told_apart; // failures that are returned without having been told apart
    int64_t returned_numbers[CONTENT_LANES];
};

// The lanes that went along the two paths of a branch.
struct branch_lanes {
    uint32_t block;
    uint64_t taken, falls;
};

struct follower;
_must_check_ struct error *follower_new(const struct flow_image *image,
                                        struct follower **ret_follower);
void follower_free(struct follower *follower);

enum follow_mode {
    FOLLOW_PLAIN,
    FOLLOW_WRAPPER,  // goes on after the check as well, to see what the function returns
    FOLLOW_VOID,     // what the function leaves in the return register is nobody's
    FOLLOW_SUCCESS,  // goes on after the check, to see what successes are good for
    FOLLOW_RETRY,    // likewise, for failures whose errno was looked at, too
    FOLLOW_BRANCHES, // goes on for all lanes as long as the result matters, and notes branches
};
// From right behind the call that ends `block` on, with `numbers` in the return register.
_must_check_ struct error *follower_run(struct follower *follower, uint32_t block,
                                        const struct possible_results *possible, uint64_t known,
                                        const int64_t *numbers, uint64_t failures,
                                        enum follow_mode mode, struct follow_outcome *ret_outcome);

// The branches of the last run of FOLLOW_BRANCHES, and blocks from where on successes were not
// followed any more; *ret_count of them.
const struct branch_lanes *follower_branches(const struct follower *follower, size_t *ret_count);
const uint32_t *follower_left(const struct follower *follower, size_t *ret_count);

#endif
