// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal show: the report of an earlier trial, from its journal.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "report/run.h"
#include "trial/doubts.h"
#include "trial/region.h"

#include <unistd.h>

struct settings {
    bool json, all;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "write the report as JSON", FIELD(json)},
    {"all", 'a', OPTION_FLAG, NULL, "list every injection and rule, however many there are",
     FIELD(all)},
};

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(region_copy_close) struct region_copy copy = {0};
    TRY(region_copy_open(operands[0], &copy));
    _cleanup_(diagnosis_deinit) struct diagnosis diagnosis = {0};
    TRY(diagnosis_make(&copy.view, &diagnosis));
    TRY(doubts_warn(&copy.view, &diagnosis));
    const struct report_run run = {
        .view = &copy.view,
        .warnings = diagnosis.warnings.items,
        .warning_count = diagnosis.warnings.count,
        .whys = diagnosis.whys,
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
    .summary = "Print the report of a journal that 'ordeal run --output' has kept.",
    .operands = "JOURNAL",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 1,
    .run = run,
};
