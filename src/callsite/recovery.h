// SPDX-License-Identifier: GPL-3.0-or-later
// Recovery code: blocks that are only reached after a call has failed and the failure was noticed.
#ifndef ORDEAL_CALLSITE_RECOVERY_H
#define ORDEAL_CALLSITE_RECOVERY_H

#include "callsite/follow.h"
#include "callsite/site.h"

// Lanes that are no success: `failures`, and 0 for functions that write or send. None for functions
// whose failures may mean "no more".
uint64_t recovery_failures(const struct site_callee *callee,
                           const struct possible_results *possible, uint64_t failures);
// After a run of FOLLOW_BRANCHES for the call that ends block `call`: adds the branches that only
// failures take to sites->failing.
_must_check_ struct error *recovery_note(const struct flow_image *image,
                                         const struct follower *follower, uint32_t call,
                                         uint64_t failures, struct sites *sites);

struct recovery_block {
    uint64_t address;
    uint32_t block;    // index in the image
    uint32_t function; // index in the image
};
struct recovery {
    ARRAY(struct recovery_block) blocks; // by address
};
void recovery_deinit(struct recovery *recovery);
// Finds blocks that cannot be reached from the beginning of their function without an edge of
// sites->failing. Only edges count that are always reached through their calls. In functions with
// jumps that are not understood, none is found.
_must_check_ struct error *recovery_find(const struct flow_image *image, const struct sites *sites,
                                         struct recovery *ret_recovery);

#endif
