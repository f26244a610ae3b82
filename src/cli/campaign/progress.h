// SPDX-License-Identifier: GPL-3.0-or-later
// Shows and stops a campaign or a replay. On a terminal a bar, elsewhere a line every few seconds;
// warnings and findings as they come. Everything goes to stderr. Handles Ctrl-C and SIGTERM.
#ifndef ORDEAL_CLI_CAMPAIGN_PROGRESS_H
#define ORDEAL_CLI_CAMPAIGN_PROGRESS_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/campaign.h"

#include <stdbool.h>

struct progress;
// From now on SIGINT, SIGTERM and SIGHUP are counted and no longer end the process at once. The
// third one does; during a reference run, which blocks everything, the second one does. `quiet`:
// prints warnings only.
_must_check_ struct error *progress_new(bool quiet, struct progress **ret_progress);
// Removes the bar and restores the signal actions.
void progress_free(struct progress *progress);
static inline void progress_freep(struct progress **progress)
{
    progress_free(*progress);
}
// The control to pass to campaign_start() and similar functions. Lives as long as `progress`.
struct campaign_control *progress_control(struct progress *progress);

// One line for a terminal, at most `width` columns: bar, counts of verdicts, time left.
_must_check_ struct error *progress_bar(const struct campaign_progress *now, unsigned width,
                                        bool colour, struct buffer *text);
// Appends a line, broken between words so that no line is wider than `width`; all but the first are
// indented. A word that is wider is not broken.
_must_check_ struct error *progress_wrap(const struct buffer *line, unsigned width,
                                         struct buffer *text);
// One line for a log.
_must_check_ struct error *progress_line(const struct campaign_progress *now, struct buffer *text);

#endif
