// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a campaign from the command line to its end, for the commands that do.
#ifndef ORDEAL_CLI_CAMPAIGN_RUN_H
#define ORDEAL_CLI_CAMPAIGN_RUN_H

#include "base/error.h"
#include "campaign/campaign.h"
#include "cli/campaign/flags.h"
#include "report/campaign/campaign.h"

struct campaign_job {
    const struct campaign_arguments *words;
    const char *store; // path; NULL: the default
    bool resume, quiet;
    const struct suppressions *known; // as in struct campaign_control
};
const char *campaign_store_path(const struct campaign_job *job);

// Makes a definition from the command line, checked as far as possible before anything runs. The
// caller frees it.
_must_check_ struct error *campaign_define_checked(const struct campaign_arguments *words,
                                                   struct definition *ret_definition);
// Reports everything that can be wrong before it creates a store. The caller closes the store.
_must_check_ struct error *campaign_carry_out(const struct campaign_job *job,
                                              struct store **ret_store,
                                              struct campaign_end *ret_end);
// Puts the results into the store's one file, for whoever ends Ordeal while it prints them.
void campaign_gather(struct store *store);

// What makes the exit status a failure.
struct campaign_fail_on {
    bool verdicts[VERDICTS];
    bool severities[SEVERITIES];
};
// From a list of verdicts and severities with commas; NULL: all verdicts that are failures.
_must_check_ struct error *campaign_parse_fail_on(const char *list,
                                                  struct campaign_fail_on *ret_fail_on);
// A verdict fails if a finding with it is shown, or if trials have it and none is even hidden. A
// severity fails if a finding with it is shown.
int campaign_exit_status(const struct campaign_end *end, const struct campaign_fail_on *fail_on,
                         const struct report_shown *findings);

#endif
