// SPDX-License-Identifier: GPL-3.0-or-later
// Recovery code: blocks that are only reached after a call has failed and somebody noticed.
#ifndef ORDEAL_CALLSITE_RECOVERY_H
#define ORDEAL_CALLSITE_RECOVERY_H

#include "callsite/follow.h"
#include "callsite/site.h"

// Lanes that no successful call takes. What a function did not write or send at all is none.
uint64_t recovery_failures(const struct site_callee *callee,
                           const struct possible_results *possible, uint64_t failures);
// After a run of FOLLOW_BRANCHES: adds to sites->failing.
_must_check_ struct error *recovery_note(const struct flow_image *image,
                                         const struct follower *follower, uint32_t call,
                                         uint64_t failures, struct sites *sites);

struct recovery_block {
    uint64_t address;
    uint32_t block;    // of the image
    uint32_t function; // likewise
};
struct recovery {
    ARRAY(struct recovery_block) blocks; // by address
};
void recovery_deinit(struct recovery *recovery);
// Blocks that cannot be reached from the beginning of their function without one of
// sites->failing, where that is only come to by path of the calls. Functions with jumps that are
// not understood have none.
_must_check_ struct error *recovery_find(const struct flow_image *image, const struct sites *sites,
                                         struct recovery *ret_recovery);

#endif
