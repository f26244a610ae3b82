// SPDX-License-Identifier: GPL-3.0-or-later
// Carries verdicts over from an earlier campaign, for code that is still the same
// (selection.since).
#ifndef ORDEAL_CAMPAIGN_SINCE_H
#define ORDEAL_CAMPAIGN_SINCE_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/suppress.h"
#include "injector/injector.h"

struct since {
    ARRAY(unsigned char) carried; // by candidate: its earlier verdict + 1, or 0
    uint64_t verdicts[VERDICTS];  // how many of each were carried over
    uint64_t unidentified;        // candidates that cannot be matched with earlier ones
    ARRAY(char *) findings;       // titles of the findings that were carried over
};
void since_deinit(struct since *since);

// Reads the newest campaign in the store `path` that ran `command`. Carries over candidates with
// the same content that it tried. Does not carry over findings that were suppressed then or that
// `known` (or NULL) suppresses now. Free the result with since_deinit().
_must_check_ struct error *since_look(const char *path, const char *command,
                                      const struct suppressions *known,
                                      const struct candidate *candidates, size_t count,
                                      struct since *ret_since);
// A sentence for the user. NULL if nothing was carried over and every candidate could be matched.
_must_check_ struct error *since_tell(const struct since *since, const char *path, size_t count,
                                      char **ret_sentence);
// How many of each verdict a stored campaign carried over.
_must_check_ struct error *since_count(struct store *store, int64_t campaign,
                                       uint64_t ret_verdicts[VERDICTS]);

#endif
