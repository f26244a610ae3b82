// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's state without its sockets: the nodes in the order in which they joined, how
// often each name was asked for, and the rules.
#ifndef ORDEAL_TRIAL_COORDINATOR_STATE_H
#define ORDEAL_TRIAL_COORDINATOR_STATE_H

#include "base/error.h"
#include "trial/coordinator-rule.h"
#include "trial/coordinator.h"

struct coordinator_state;

// Without rules every answer is yes.
_must_check_ struct error *coordinator_state_new(const char *const *rules, size_t rule_count,
                                                 uint64_t seed,
                                                 struct coordinator_state **ret_state);
void coordinator_state_free(struct coordinator_state *state);

// A node with several connections joins several times and counts as one. Fails when there are too
// many nodes.
_must_check_ struct error *coordinator_state_join(struct coordinator_state *state,
                                                  const char *node);
void coordinator_state_leave(struct coordinator_state *state, const char *node);

// Fills in the question's counts, then asks the rules for that name in order. *ret_rule becomes the
// text of the rule that said yes, which belongs to the state; NULL if all said no. Fails for a node
// that has not joined, and when there are too many names.
_must_check_ struct error *coordinator_state_ask(struct coordinator_state *state, const char *name,
                                                 struct coordinator_question *question,
                                                 const char **ret_rule);

struct coordinator_totals coordinator_state_totals(const struct coordinator_state *state);

#endif
