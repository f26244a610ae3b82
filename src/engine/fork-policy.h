// SPDX-License-Identifier: GPL-3.0-or-later
// Whether and how long a campaign's trials fork where faults are injected, and what is said of it.
#ifndef ORDEAL_ENGINE_FORK_POLICY_H
#define ORDEAL_ENGINE_FORK_POLICY_H

#include "base/error.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "oracle/reference.h"

struct fork_policy {
    bool on;
    bool wanted;     // always: not given up for being in vain
    size_t most;     // trials at once
    const char *why; // it is off, as far as the definition, the reference or a trial tells; or NULL
    uint64_t tried, in_vain, disputed;
};

// `self` is the controller's injector.
struct fork_policy fork_policy(const struct definition *definition, const struct injector *injector,
                               void *self, const struct reference *reference);
// How many jobs to give to a slot of `slots`; `left` trials are there, 0: not known.
size_t fork_policy_lot(const struct fork_policy *policy, uint64_t left, unsigned slots);
// A result has come in. Whether it was the one that ended forking; then `why` says why.
bool fork_policy_note(struct fork_policy *policy, const struct engine_result *result);
// What keeps a workload from being forked, after "the workload ".
const char *fork_policy_refusal(enum wire_fork_refusal refusal);

#endif
