// SPDX-License-Identifier: GPL-3.0-or-later
// What the coordinator knows: the nodes in the order they came, how often each name was asked for,
// and the rules. No sockets here.
#ifndef ORDEAL_TRIAL_COORDINATOR_STATE_H
#define ORDEAL_TRIAL_COORDINATOR_STATE_H

#include "base/error.h"
#include "trial/coordinator.h"
#include "trial/decision.h"

struct coordinator_state;

// Without rules every answer is yes.
_must_check_ struct error *coordinator_state_new(const char *const *rules, size_t rule_count,
                                                 uint64_t seed,
                                                 struct coordinator_state **ret_state);
void coordinator_state_free(struct coordinator_state *state);

// A node may be connected several times; it is one node.
_must_check_ struct error *coordinator_state_join(struct coordinator_state *state,
                                                  const char *node);
void coordinator_state_leave(struct coordinator_state *state, const char *node);

// Fills in question's counts, then asks the rules for that name in order. *ret_rule becomes the
// text of the one that said yes, or NULL.
_must_check_ struct error *coordinator_state_ask(struct coordinator_state *state, const char *name,
                                                 struct decision_question *question,
                                                 const char **ret_rule);

struct coordinator_totals coordinator_state_totals(const struct coordinator_state *state);

#endif
