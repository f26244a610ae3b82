// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal campaign: runs many trials, defined by a file or by options.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "campaign/campaign.h"
#include "cli/campaign/flags.h"
#include "cli/campaign/preview.h"
#include "cli/campaign/run.h"
#include "cli/campaign/verdict-line.h"
#include "report/campaign/campaign.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    struct campaign_settings common;
    bool sweep, dry_run;
    const char *half_width;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct campaign_row rows[] = {
    {.of_injectors = true},
    {.shared = "sample"},
    {.shared = "per"},
    {.shared = "weights"},
    {.own = {"sweep", 0, OPTION_FLAG, NULL,
             "try the first occurrence, the second, and so on until nothing fires", FIELD(sweep)}},
    {.shared = "since-rev"},
    {.shared = "repeat"},
    {.shared = "references", .help = "fault-free runs before the first trial (5)"},
    {.shared = "expect-status"},
    {.shared = "behaviour"},
    {.shared = "invocations"},
    {.shared = "interface"},
    {.shared = "compare"},
    {.shared = "ignore"},
    {.shared = "filter"},
    {.shared = "oracle"},
    {.shared = "timeout"},
    {.shared = "timeout-factor"},
    {.shared = "ready"},
    {.shared = "load"},
    {.shared = "stop"},
    {.shared = "grace"},
    {.shared = "long-lived"},
    {.shared = "setup"},
    {.shared = "pretest"},
    {.shared = "posttest"},
    {.shared = "teardown"},
    {.shared = "input"},
    {.shared = "inputs"},
    {.shared = "env"},
    {.shared = "secret"},
    {.shared = "sandbox"},
    {.shared = "private-network"},
    {.shared = "engine"},
    {.shared = "fork"},
    {.shared = "jobs"},
    {.shared = "seed", .help = "start of all random decisions; the report shows the one used"},
    {.shared = "time-budget"},
    {.shared = "max-trials"},
    {.shared = "stop-after"},
    {.shared = "until-interval"},
    {.shared = "name"},
    {.shared = "set"},
    {.shared = "db"},
    {.shared = "resume"},
    {.shared = "scope"},
    {.shared = "mine"},
    {.shared = "fail-on"},
    {.shared = "proof"},
    {.own = {"dry-run", 0, OPTION_FLAG, NULL,
             "print the complete definition and, after the reference runs, the number of "
             "candidates",
             FIELD(dry_run)}},
    {.own = {"sample-size-for", 0, OPTION_TEXT, "WIDTH",
             "print how many trials estimate a proportion to WIDTH to either side; run nothing",
             FIELD(half_width)}},
    {.shared = "no-project-file"},
    {.shared = "verbose"},
    {.shared = "quiet"},
};

static bool option_at(size_t index, struct option *ret_option)
{
    return campaign_option_at(rows, sizeof rows / sizeof *rows, false, index, ret_option);
}

static struct error *print_sample_size(const char *text)
{
    char *end;
    double width = strtod(text, &end);
    if (end == text || *end != '\0' || !(width > 0 && width < 0.5))
        return error_new("--sample-size-for needs a number between 0 and 0.5, such as 0.05, not "
                         "'%s'",
                         text);
    size_t counted = 0;
    for (int i = 0; i < VERDICTS; i++)
        counted += verdict_facts[i].counts;
    _cleanup_(buffer_deinit) struct buffer out = {0};
    TRY(buffer_printf(
        &out,
        "%llu trials estimate one proportion to %g to either side, with 95 %% "
        "confidence\n"
        "%llu trials do so for all %zu verdicts at once (Bonferroni)\n",
        (unsigned long long)stats_sample_size(width, STATS_CONFIDENCE, -1), width,
        (unsigned long long)stats_sample_size_bonferroni(width, STATS_CONFIDENCE, counted),
        counted));
    return output_print(&out);
}

static struct error *report(struct store *store, const char *path, const struct campaign_end *end,
                            struct report_choice choice, bool verbose)
{
    const struct report_options how = {.database = path,
                                       .colour = output_colour(STDOUT_FILENO),
                                       .proof = choice.proof,
                                       .scope = choice.scope,
                                       .verbose = verbose};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(report_campaign_text(store, end->id, &how, &text));
    return output_print(&text);
}

static struct error *carry_out(const struct settings *settings,
                               const struct campaign_arguments *words, int *ret_status)
{
    const struct campaign_job job = {.words = words,
                                     .store = settings->common.store,
                                     .resume = settings->common.resume,
                                     .quiet = settings->common.quiet};
    struct campaign_fail_on fail_on;
    struct report_choice choice;
    TRY(campaign_parse_fail_on(settings->common.fail_on, &fail_on));
    TRY(report_proof_parse(settings->common.proof, &choice.proof));
    TRY(report_scope_parse(campaign_given(words, "scope"), &choice.scope));
    _cleanup_(store_closep) struct store *store = NULL;
    struct campaign_end end = {0};
    TRY(campaign_carry_out(&job, &store, &end));
    struct report_shown findings;
    TRY(report_count_shown(store, end.id, choice.proof, choice.scope, &findings));
    *ret_status = campaign_exit_status(&end, &fail_on, &findings);
    campaign_gather(store);
    TRY(report(store, campaign_store_path(&job), &end, choice, settings->common.verbose));
    return verdict_line_print(&findings, NULL);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct campaign_arguments words = {.flags = &settings->common.flags,
                                       .sweep = settings->sweep,
                                       .no_project_file = settings->common.no_project_file};
    TRY(campaign_operands(operands, &words.file, &words.command));
    if (settings->half_width != NULL)
        return print_sample_size(settings->half_width);
    if (!settings->dry_run)
        return carry_out(settings, &words, ret_status);
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(campaign_define_checked(&words, &definition));
    return campaign_preview(&definition);
}

const struct command cmd_campaign = {
    .name = "campaign",
    .summary = "Run many trials of a command, each with one fault, and judge every one.",
    .operands = "[FILE.yaml] [-- COMMAND [ARGUMENT]...]",
    .details =
        "Fault-free runs come first: they say what the command does when all is well, and which\n"
        "faults there are to inject. Trials run in a sandbox; results go into a store, for\n"
        "'ordeal report' and 'ordeal replay'. FILE.yaml is described in ordeal-campaign(5); what\n"
        "is given on the command line wins. Commands (CMD) are for the shell.\n"
        "\n"
        "The exit status is 0 if nothing was found, 1 if something was, 2 if the campaign could\n"
        "not run to its end, 3 if no fault was ever hit, so that nothing was tested.\n"
        "\n"
        "  ordeal campaign --inject 'read=-1/EIO' -- cp in out\n"
        "  ordeal campaign -i '*alloc=NULL' --sample 200 -j 4 -- ./parser file\n"
        "  ordeal campaign --signal TERM --posttest './fsck.sh' -- ./server --once\n"
        "  ordeal campaign nightly.yaml --time-budget 1h\n",
    .option_at = option_at,
    .environment_options = true,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .keeps_separator = true,
    .run = run,
};
