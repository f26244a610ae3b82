// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal show: shows a run from its journal, or a trial from the store of its campaign.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "campaign/campaign.h"
#include "cli/run/package.h"
#include "cli/trial-name.h"
#include "report/campaign/bug-report.h"
#include "report/campaign/campaign.h"
#include "report/run/run.h"
#include "trial/impossible-results.h"
#include "trial/region.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct settings {
    const char *store;
    bool json, all, report;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"db", 0, OPTION_FILE, "FILE", "the store of the trial's campaign (ordeal.db)", FIELD(store)},
    {"json", 0, OPTION_FLAG, NULL, "write the report as JSON", FIELD(json)},
    {"report", 0, OPTION_FLAG, NULL,
     "write a bug report for the maintainer of the program, in Markdown", FIELD(report)},
    {"all", 'a', OPTION_FLAG, NULL, "list every injection and rule, however many there are",
     FIELD(all)},
};

static struct error *show_bug(struct store *store, int64_t trial, const struct report_options *how)
{
    _cleanup_free_ char *module = NULL;
    _cleanup_(package_deinit) struct package package = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(report_bug_module(store, trial, &module));
    TRY(package_find(module, &package));
    const struct report_package known = {module, package.name, package.version};
    TRY(report_bug(store, trial, how, &known, &text));
    return output_print(&text);
}

static struct error *show_trial(const struct settings *settings, const char *name)
{
    struct report_options how = {.colour = output_colour(STDOUT_FILENO)};
    _cleanup_free_ char *command = NULL;
    _cleanup_(store_closep) struct store *store = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    int64_t trial = 0;
    TRY(store_open(settings->store != NULL ? settings->store : STORE_DEFAULT, STORE_READ, &store));
    TRY(trial_find(store, name, &trial));
    // A program or plug-in that is gone is no reason to show nothing.
    error_free(campaign_run_command(store, trial, &command));
    how.run_command = command;
    if (settings->report)
        return show_bug(store, trial, &how);
    TRY(settings->json ? report_trial_json(store, trial, &how, &text)
                       : report_trial_text(store, trial, &how, &text));
    return output_print(&text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    if (settings->report && settings->json)
        return error_new("--report is written for people; leave out --json");
    if (settings->report && !trial_is_name(operands[0]))
        return error_new("--report is about a finding of a campaign, such as F3");
    if (settings->store != NULL || (trial_is_name(operands[0]) && access(operands[0], F_OK) != 0))
        return show_trial(settings, operands[0]);
    if (access(operands[0], F_OK) != 0 && errno == ENOENT)
        return error_new("'%s' is no trial (such as 17), no finding (F3), and no file",
                         operands[0]);
    _cleanup_(region_copy_close) struct region_copy copy = {0};
    TRY(region_copy_open(operands[0], &copy));
    _cleanup_(diagnosis_deinit) struct diagnosis diagnosis = {0};
    TRY(diagnosis_make(&copy.view, &diagnosis));
    TRY(impossible_results_warn(&copy.view, &diagnosis));
    const struct report_run run = {
        .view = &copy.view,
        .warnings = diagnosis.warnings.items,
        .warning_count = diagnosis.warnings.count,
        .reasons = diagnosis.whys,
        .symbolize = true,
        .all = settings->all,
        .colour = output_colour(STDOUT_FILENO),
    };
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(settings->json ? report_run_json(&run, &text) : report_run_text(&run, &text));
    return output_print(&text);
}

const struct command cmd_show = {
    .name = "show",
    .summary = "Show what happened in a trial of a campaign, or in a run that kept its journal.",
    .operands = "TRIAL|FINDING|JOURNAL",
    .details = "A trial is the number that reports show, a finding F3 or finding:3, in the store "
               "that --db\n"
               "names. A file of that name is a journal that 'ordeal run --output' has kept.\n"
               "\n"
               "  ordeal show F3\n"
               "  ordeal show F3 --report >report.md\n"
               "  ordeal show 17 --db tests.db\n"
               "  ordeal show journal\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 1,
    .run = run,
};
