// SPDX-License-Identifier: GPL-3.0-or-later
// Decides whether trials get a private network (sandbox.network: auto). In a shared one, trials
// that run at the same time would take each other's ports, and a server of this machine may hold a
// port already. But a private network costs time, and no other service is in it. So the first
// reference run gets one. If it passes and uses the network, all runs get one.
#ifndef ORDEAL_CAMPAIGN_PREPARATION_NETWORK_H
#define ORDEAL_CAMPAIGN_PREPARATION_NETWORK_H

#include "campaign/preparation.h"

#include <stdio.h>

// Called before the first reference run. Servers always have a private network.
void network_try(struct preparation *preparation);
// Called after that run. If *ret_again, the run did not serve and is forgotten; the next run is the
// first.
_must_check_ struct error *network_decide(struct preparation *preparation,
                                          struct reference *reference, bool *ret_again);
// Stores the decision in the definition, for resuming and replaying.
_must_check_ struct error *network_save(const struct preparation *preparation);

// Whether any socket can be reached through localhost, according to a table like /proc/net/tcp.
bool network_is_listened(FILE *table);

#endif
