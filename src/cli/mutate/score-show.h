// SPDX-License-Identifier: GPL-3.0-or-later
// Mutation scores for people and for machines. All functions append to `text`.
#ifndef ORDEAL_CLI_MUTATE_SCORE_SHOW_H
#define ORDEAL_CLI_MUTATE_SCORE_SHOW_H

#include "mutate/score/score.h"

_must_check_ struct error *score_put_text(const struct mutate_set *set, const struct score *score,
                                          struct buffer *text);
// The report of mutation testing that Stryker's viewers read.
_must_check_ struct error *score_put_stryker(const struct mutate_set *set,
                                             const struct score *score, struct buffer *text);
// SARIF 2.1.0: a result for each mutant that survived.
_must_check_ struct error *score_put_sarif(const struct mutate_set *set, const struct score *score,
                                           struct buffer *text);

#endif
