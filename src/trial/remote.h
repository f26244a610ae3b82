// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of remote(NAME): forwards a target's question to the coordinator.
#ifndef ORDEAL_TRIAL_REMOTE_H
#define ORDEAL_TRIAL_REMOTE_H

#include "base/error.h"
#include "trial/region.h"

struct remote;

// `address` may be NULL: every answer is WIRE_REMOTE_UNREACHABLE then. `node` NULL means host name
// and pid. Connects with the first question. The region must outlive it. Fails if the address is
// wrong.
_must_check_ struct error *remote_new(const char *address, const char *node,
                                      const struct region *region, struct remote **ret_remote);
void remote_free(struct remote *remote);

// Asks and waits for the answer, for a few seconds at most. WIRE_REMOTE_UNREACHABLE if none comes.
enum wire_remote_answer remote_ask(struct remote *remote, const struct wire_remote *question);

#endif
