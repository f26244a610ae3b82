// SPDX-License-Identifier: GPL-3.0-or-later
// What the coordinator knows: the nodes in the order they came, how often each name was asked for,
// and the rules. No sockets here.
#ifndef ORDEAL_TRIAL_CENSUS_H
#define ORDEAL_TRIAL_CENSUS_H

#include "base/error.h"
#include "trial/coordinator.h"
#include "trial/decision.h"

struct census;

// Without rules every answer is yes.
struct error *census_new(const char *const *rules, size_t rule_count, uint64_t seed,
                         struct census **ret_census);
void census_free(struct census *census);

// A node may be connected several times; it is one node.
struct error *census_join(struct census *census, const char *node);
void census_leave(struct census *census, const char *node);

// Fills in question's counts, then asks the rules for that name in order. *ret_rule becomes the
// text of the one that said yes, or NULL.
struct error *census_ask(struct census *census, const char *name,
                         struct decision_question *question, const char **ret_rule);

struct coordinator_totals census_totals(const struct census *census);

#endif
