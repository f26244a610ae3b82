// SPDX-License-Identifier: GPL-3.0-or-later
// The faults that can be switched on and off in a long-lived server: those that fire at any call
// from a place. Other faults fire at one call in a process's life, and need a life of their own.
#ifndef ORDEAL_CAMPAIGN_SWITCHABLE_H
#define ORDEAL_CAMPAIGN_SWITCHABLE_H

#include "definition/definition.h"
#include "store/store.h"

// Adds the specs of such candidates of a campaign, for engine_task. The caller frees them, also
// after an error.
_must_check_ struct error *switchable_find(const struct injector_switches *switches,
                                           struct store *store, int64_t campaign,
                                           struct words *ret_switchable);

#endif
