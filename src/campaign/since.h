// SPDX-License-Identifier: GPL-3.0-or-later
// What an earlier campaign found out about code that is still the same.
#ifndef ORDEAL_CAMPAIGN_SINCE_H
#define ORDEAL_CAMPAIGN_SINCE_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/suppress.h"
#include "injector/injector.h"

struct since {
    ARRAY(unsigned char) carried; // by candidate: its verdict then + 1, or 0
    uint64_t verdicts[VERDICTS];  // of those
    uint64_t nameless;            // candidates that no earlier one can be known to be
    ARRAY(char *) findings;       // titles of findings that they showed
};
void since_deinit(struct since *since);

// From the newest campaign in the store `path` that ran `command`. Candidates whose content it has,
// and tried, are carried over; but not what is suppressed, then or by `known` (or NULL) now.
_must_check_ struct error *since_look(const char *path, const char *command,
                                      const struct suppressions *known,
                                      const struct candidate *candidates, size_t count,
                                      struct since *ret_since);
// One sentence; NULL if nothing was carried over and nothing could not be.
_must_check_ struct error *since_tell(const struct since *since, const char *path, size_t count,
                                      char **ret_sentence);
// Of a stored campaign: how many of each verdict were carried over.
_must_check_ struct error *since_count(struct store *store, int64_t campaign,
                                       uint64_t ret_verdicts[VERDICTS]);

#endif
