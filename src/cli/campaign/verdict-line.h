// SPDX-License-Identifier: GPL-3.0-or-later
// The last line of a campaign's output: what was found, how bad it is, how much of it is new, and
// where to read more.
#ifndef ORDEAL_CLI_CAMPAIGN_VERDICT_LINE_H
#define ORDEAL_CLI_CAMPAIGN_VERDICT_LINE_H

#include "report/campaign/campaign.h"

// `page` is the HTML report, or NULL. Prints a blank line and the line.
_must_check_ struct error *verdict_line_print(const struct report_shown *findings,
                                              const char *page);

#endif
