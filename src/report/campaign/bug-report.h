// SPDX-License-Identifier: GPL-3.0-or-later
// A bug report about one finding, for the maintainer of the program.
#ifndef ORDEAL_REPORT_CAMPAIGN_BUG_REPORT_H
#define ORDEAL_REPORT_CAMPAIGN_BUG_REPORT_H

#include "report/campaign/campaign.h"

// The package that a file is of.
struct report_package {
    const char *file;           // its path
    const char *name, *version; // NULL: of none that is known
};

// The path of the module that made the failing call, to ask for its package. *ret_path is NULL if
// it is not known; the caller frees it.
_must_check_ struct error *report_bug_module(struct store *store, int64_t trial, char **ret_path);
// The report in Markdown, for a trial that shows a finding; an error if it shows none. `package`
// may be NULL. The caller frees the text.
_must_check_ struct error *report_bug(struct store *store, int64_t trial,
                                      const struct report_options *options,
                                      const struct report_package *package,
                                      struct buffer *ret_text);

#endif
