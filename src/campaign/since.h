// SPDX-License-Identifier: GPL-3.0-or-later
// Carries verdicts and findings over from an earlier campaign, for code that is still the same
// (selection.since).
#ifndef ORDEAL_CAMPAIGN_SINCE_H
#define ORDEAL_CAMPAIGN_SINCE_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/suppress.h"
#include "injector/injector.h"

// A trial of the earlier campaign that shows a finding which is carried over.
struct since_trial {
    int64_t id, finding;
    size_t candidate; // index of its candidate in this campaign
    bool counted;     // false: it ran to confirm the finding
};

struct since {
    ARRAY(unsigned char) carried; // by candidate: its earlier verdict + 1, or 0
    uint64_t verdicts[VERDICTS];  // how many of each were carried over
    uint64_t unidentified;        // candidates that cannot be matched with earlier ones
    // The earlier campaign, in a store that stays open until since_deinit().
    struct store *store;
    int64_t campaign, created_s;
    ARRAY(struct since_trial) trials; // to be copied with their findings
};
void since_deinit(struct since *since);

// Reads the newest campaign in the store `path` that ran `command`. Carries over candidates with
// the same content that it tried. A failure is carried over together with its finding: if that was
// suppressed then, or `known` (or NULL) suppresses it now, or the code of the trial that shows it
// has changed, everything that shows the finding is to be tried again. Free the result with
// since_deinit().
_must_check_ struct error *since_look(const char *path, const char *command,
                                      const struct suppressions *known,
                                      const struct candidate *candidates, size_t count,
                                      struct since *ret_since);
// Copies the findings that are carried over, and the trials that show them, into another campaign.
// `rows` are the ids of its candidates, in the order of those of since_look().
_must_check_ struct error *since_copy_findings(const struct since *since, struct store *store,
                                               int64_t campaign, const struct candidate *candidates,
                                               const int64_t *rows);
// A sentence for the user. NULL if nothing was carried over and every candidate could be matched.
_must_check_ struct error *since_tell(const struct since *since, const char *path, size_t count,
                                      char **ret_sentence);
// How many of each verdict a stored campaign carried over.
_must_check_ struct error *since_count(struct store *store, int64_t campaign,
                                       uint64_t ret_verdicts[VERDICTS]);

#endif
