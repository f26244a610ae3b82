// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps results back until all trials that began before theirs have ended, so that findings get the
// same numbers in every run, whichever trial ends first.
#ifndef ORDEAL_CAMPAIGN_TRIAL_ORDER_H
#define ORDEAL_CAMPAIGN_TRIAL_ORDER_H

#include "campaign/schedule.h"

struct trial_turn;
struct trial_order {
    ARRAY(struct trial_turn) turns; // that have begun, without those that are settled
    size_t settled;                 // at the beginning of `turns`
    uint64_t first;                 // the number of turns.items[0], less 1
    size_t held;                    // results that are kept back
};
void trial_order_deinit(struct trial_order *order);
// A trial begins. *ret_turn is for the calls below.
_must_check_ struct error *trial_order_begin(struct trial_order *order, uint64_t *ret_turn);
// The trial has ended. With `hold`, takes over job and result and keeps them back. Calls `keep` for
// all results whose turn has come.
_must_check_ struct error *trial_order_end(struct trial_order *order, uint64_t turn, bool hold,
                                           struct trial_job *job, struct engine_result *result,
                                           schedule_keep keep, void *data);
// Calls `keep` for all that are kept back.
_must_check_ struct error *trial_order_flush(struct trial_order *order, schedule_keep keep,
                                             void *data);

#endif
