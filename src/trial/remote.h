// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of remote(NAME): forwards a target's question to the coordinator.
#ifndef ORDEAL_TRIAL_REMOTE_H
#define ORDEAL_TRIAL_REMOTE_H

#include "base/error.h"
#include "trial/region.h"

struct remote;

// `address` may be NULL: every question is then unreachable. `node` NULL: host name and pid.
// Connects with the first question.
_must_check_ struct error *remote_new(const char *address, const char *node,
                                      const struct region *region, struct remote **ret_remote);
void remote_free(struct remote *remote);

// An answer, at the latest after a few seconds.
enum wire_remote_answer remote_ask(struct remote *remote, const struct wire_remote *question);

#endif
