// SPDX-License-Identifier: GPL-3.0-or-later
// Findings of one missing check that have different causes: a guessed failure of a library's
// function, and the failures inside that function that make it fail; one call whose result nobody
// tests, with what comes of it in several callers.
#ifndef ORDEAL_CAMPAIGN_FINDING_JOIN_H
#define ORDEAL_CAMPAIGN_FINDING_JOIN_H

#include "store/store.h"

// Joins the campaign's findings anew: sets part_of of those that another one stands for, and
// library of the one that does. Two are one if the stack of one fault goes through the very call
// that fails in the other, and the same comes of both, or by finding_member_is_same().
_must_check_ struct error *finding_join(struct store *store, int64_t campaign);

#endif
