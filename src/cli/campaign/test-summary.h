// SPDX-License-Identifier: GPL-3.0-or-later
// What a test has tried and what it has not, for the end of its report.
#ifndef ORDEAL_CLI_CAMPAIGN_TEST_SUMMARY_H
#define ORDEAL_CLI_CAMPAIGN_TEST_SUMMARY_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/campaign.h"

// `database` is the store as the user named it, or NULL. `verbose`: with the table of classes.
// Appends to `text`.
_must_check_ struct error *test_summary(struct store *store, const struct campaign_end *end,
                                        const char *database, bool verbose, struct buffer *text);

#endif
