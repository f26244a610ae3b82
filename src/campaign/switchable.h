// SPDX-License-Identifier: GPL-3.0-or-later
// Of a server that lives long: faults that wait for a call from some place. Others are for one call
// of a process's life, and need a life of their own.
#ifndef ORDEAL_CAMPAIGN_SWITCHABLE_H
#define ORDEAL_CAMPAIGN_SWITCHABLE_H

#include "definition/definition.h"
#include "store/store.h"

// The specs of a campaign's chosen candidates that are so, as of engine_task. Also what is there
// after an error is the caller's.
_must_check_ struct error *switchable_find(const struct injector_switches *switches,
                                           struct store *store, int64_t campaign,
                                           struct words *ret_switchable);

#endif
