// SPDX-License-Identifier: GPL-3.0-or-later
// Decides whether a campaign's trials fork where faults are injected, how many at once, and when to
// give that up. Says why not.
#ifndef ORDEAL_ENGINE_FORK_POLICY_H
#define ORDEAL_ENGINE_FORK_POLICY_H

#include "base/error.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "oracle/reference.h"

struct fork_policy {
    bool on;
    bool wanted;     // the user asked for it: never given up for too few gains
    size_t most;     // trials per lot
    const char *why; // why it is off, or NULL; static storage
    uint64_t tried, in_vain, disputed;
};

// The policy to begin with. `self` is the controller's injector.
struct fork_policy fork_policy(const struct definition *definition, const struct injector *injector,
                               void *self, const struct reference *reference);
// How many jobs to give to one of `slots` slots when `left` trials are left (0: not known).
size_t fork_policy_lot(const struct fork_policy *policy, uint64_t left, unsigned slots);
// Takes note of a result. True if this result ended forking; then `why` says why.
bool fork_policy_note(struct fork_policy *policy, const struct engine_result *result);
// Why a workload cannot be forked, as the words after "the workload ".
const char *fork_policy_refusal(enum wire_fork_refusal refusal);

#endif
