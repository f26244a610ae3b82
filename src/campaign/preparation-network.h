// SPDX-License-Identifier: GPL-3.0-or-later
// Whether trials get a network of their own (sandbox.network: auto). Trials that run at a time
// would take each other's ports, and a server of this machine might have one already; but a network
// of its own costs time, and nobody else is in it. So the first reference run has one: where it
// passes and makes use of it, all runs do.
#ifndef ORDEAL_CAMPAIGN_PREPARATION_NETWORK_H
#define ORDEAL_CAMPAIGN_PREPARATION_NETWORK_H

#include "campaign/preparation.h"

#include <stdio.h>

// Before the first reference run. Servers have one in any case.
void network_try(struct preparation *preparation);
// After it. *ret_again: it said nothing and is forgotten, the next one is the first.
_must_check_ struct error *network_decide(struct preparation *preparation,
                                          struct reference *reference, bool *ret_again);
// What became of `auto`, so that the campaign can be gone on with and its trials replayed.
_must_check_ struct error *network_save(const struct preparation *preparation);

// Whether anybody can be connected to by way of localhost, according to a table such as
// /proc/net/tcp.
bool network_is_listened(FILE *table);

#endif
