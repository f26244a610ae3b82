// SPDX-License-Identifier: GPL-3.0-or-later
// One job slot's means to run shots: a sandbox and an injector. A shot is setup, pretest, workload
// with the fault, posttest, the user's oracle, teardown, all in one life of the sandbox.
#ifndef ORDEAL_CAMPAIGN_SHOOTING_H
#define ORDEAL_CAMPAIGN_SHOOTING_H

#include "base/error.h"
#include "campaign/definition.h"
#include "campaign/injector.h"
#include "campaign/outcome.h"

struct shooting;
struct error *shooting_new(const struct definition *definition, const struct injector *injector,
                           struct shooting **ret_shooting);
void shooting_free(struct shooting *shooting);
struct sandbox *shooting_sandbox(struct shooting *shooting);
void *shooting_injector(struct shooting *shooting); // its `self`

// spec NULL: a reference run. timeout_ns 0: none. An error means that the machinery failed, not the
// target.
struct error *shooting_run(struct shooting *shooting, const char *spec, uint64_t seed,
                           uint64_t timeout_ns, struct outcome_run *ret_run);

#endif
