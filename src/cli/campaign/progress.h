// SPDX-License-Identifier: GPL-3.0-or-later
// How a campaign or a replay is watched and stopped: a bar on a terminal, a line every few seconds
// elsewhere, warnings and findings as they come, all on stderr; Ctrl-C and SIGTERM.
#ifndef ORDEAL_CLI_CAMPAIGN_PROGRESS_H
#define ORDEAL_CLI_CAMPAIGN_PROGRESS_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/campaign.h"

#include <stdbool.h>

struct progress;
// From now on SIGINT, SIGTERM and SIGHUP are counted, not obeyed; while a reference run holds
// everything up the second ends the process, otherwise the third. `quiet`: says nothing but
// warnings.
_must_check_ struct error *progress_new(bool quiet, struct progress **ret_progress);
// Wipes the bar and gives signals their old meaning.
void progress_free(struct progress *progress);
static inline void progress_freep(struct progress **progress)
{
    progress_free(*progress);
}
// What campaign_start() and its like want to be given; lives as long as `progress`.
struct campaign_control *progress_control(struct progress *progress);

// One line of `width` columns at most, for a terminal: bar, counts of verdicts, time left.
_must_check_ struct error *progress_bar(const struct campaign_progress *now, unsigned width,
                                        bool colour, struct buffer *text);
// One line for a log.
_must_check_ struct error *progress_line(const struct campaign_progress *now, struct buffer *text);

#endif
