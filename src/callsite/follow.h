// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the result of one call along all paths from it, to find out where failures are told apart
// from success, and what is done with the result before.
#ifndef ORDEAL_CALLSITE_FOLLOW_H
#define ORDEAL_CALLSITE_FOLLOW_H

#include "callsite/machine.h"
#include "callsite/site.h"

// The possible results of a call, one per lane: failures first, then examples of success.
struct possible_results {
    unsigned lanes;
    uint64_t failures;  // mask of lanes
    uint64_t successes; // mask of lanes that a failure has to be told apart from
    int64_t numbers[CONTENT_LANES];
    bool lenient;   // it is unknown which success is the usual one: one of them is enough
    int ordinary;   // lane of a success that never equals the constant it is compared with, or -1
    int full;       // lane of a success that transferred the full length, or -1
    bool zero_full; // that may be 0
    bool below;     // that is less than a limit it is compared with
    bool by_errno;  // a failure is a legal number, too: only errno tells
    bool fills_day; // a success fills in the days of the struct tm that is passed first
    uint64_t usual; // mask of successes, with those that `successes` leaves out but code expects
};
void possible_results_make(const struct site_callee *callee, struct possible_results *ret_possible);

// What was found about one call. All masks are of lanes.
struct follow_outcome {
    uint64_t told_apart; // failures that were told apart from success
    uint64_t errors;     // of these, told apart by errno
    uint64_t sifted;     // failures that a comparison sends another way than some success
    uint64_t called_on; // of the told apart, told apart in a function that the result was passed to
    uint64_t check_address, use_address;
    uint32_t check_distance, use_distance; // instructions from the call
    uint8_t use;                           // enum site_use
    uint8_t argument;
    uint32_t passed_to;
    bool dangerous;     // a failure may have been used before it was told apart
    bool checked_after; // and was told apart only afterwards
    bool cut;           // the budget was not enough
    bool lost;          // a path leads through a jump that is not understood
    bool on_stack;      // a failure is passed on the stack, where it is not followed
    bool dies;          // a failure leads to code that ends the program
    bool value_used;    // FOLLOW_SUCCESS: a success is used for its value
    bool repeated;      // a failure that was not told apart leads back to the call
    bool handled;       // FOLLOW_WRAPPER: code that only failures reach calls or stores something
    bool retried;       // after a comparison of errno, a failure leads back to the call
    bool interrupted;   // FOLLOW_RETRY: a failure with another errno is used like a success
    bool forgotten;     // FOLLOW_RETRY: it goes where successes go, and is not checked there
    bool handed_back;   // FOLLOW_RETRY: it is returned, if the function has a result
    // What the function returns: in which lanes, where the number is known, where it is the result.
    uint64_t returned, returned_known, returned_same;
    uint64_t returned_not_told_apart; // failures that are returned and were not told apart
    int64_t returned_numbers[CONTENT_LANES];
};

// The lanes that took a branch, and those that fell through.
struct branch_lanes {
    uint32_t block;
    uint64_t taken, falls;
};

// One follower can run for many calls, one after the other. The image must outlive it.
struct follower;
_must_check_ struct error *follower_new(const struct flow_image *image,
                                        struct follower **ret_follower);
void follower_free(struct follower *follower);

enum follow_mode {
    FOLLOW_PLAIN,
    FOLLOW_WRAPPER,  // goes on after the check, to see what the function returns
    FOLLOW_VOID,     // the function has no result: what is in the return register does not count
    FOLLOW_SUCCESS,  // goes on after the check, to see whether the value of a success is used
    FOLLOW_RETRY,    // goes on after the check, also for failures whose errno was compared
    FOLLOW_BRANCHES, // goes on for all lanes as long as the result matters, and records branches
};
// Begins behind the call that ends `block`, with `numbers` in the return register. `known` and
// `failures` are masks of lanes: whose number is known, and which of them are failures.
_must_check_ struct error *follower_run(struct follower *follower, uint32_t block,
                                        const struct possible_results *possible, uint64_t known,
                                        const int64_t *numbers, uint64_t failures,
                                        enum follow_mode mode, struct follow_outcome *ret_outcome);

// After a run of FOLLOW_BRANCHES: the branches, and the blocks where the analysis stopped following
// successes. Arrays of *ret_count items; they belong to the follower, until its next run.
const struct branch_lanes *follower_branches(const struct follower *follower, size_t *ret_count);
const uint32_t *follower_left(const struct follower *follower, size_t *ret_count);

#endif
