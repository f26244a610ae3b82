// SPDX-License-Identifier: GPL-3.0-or-later
// What `ordeal test` does with its settings: the test itself, and its reports.
#ifndef ORDEAL_CLI_CAMPAIGN_TEST_RUN_H
#define ORDEAL_CLI_CAMPAIGN_TEST_RUN_H

#include "cli/campaign/formats.h"
#include "cli/campaign/run.h"

struct test_settings {
    struct campaign_settings common;
    struct option_list suppressions;
    bool generate, show_suppressions;
    struct format_setting formats[FORMATS];
};
// Runs the test or resumes it, prints its report and sets the exit status.
_must_check_ struct error *test_run(const struct test_settings *settings,
                                    const struct campaign_job *job, int *ret_status);

#endif
