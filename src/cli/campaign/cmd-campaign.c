// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal campaign: many trials, from a file or from flags.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "campaign/campaign.h"
#include "cli/campaign/flags.h"
#include "cli/campaign/preview.h"
#include "cli/campaign/run.h"
#include "report/campaign/campaign.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    struct option_list flags;
    bool sweep, persistent, private_network, long_lived;
    bool resume, dry_run, quiet;
    const char *store, *fail_on, *half_width;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"inject", 'i', OPTION_LIST, "SPEC",
     "a fault of library functions: FUNCTION=VALUE[/ERRNO]; may be given again", FIELD(flags)},
    {"at", 0, OPTION_LIST, "WHAT",
     "make it happen at every occurrence (the default), site or stack of calls", FIELD(flags)},
    {"persistent", 0, OPTION_FLAG, NULL, "calls go on failing from then on", FIELD(persistent)},
    {"plugin", 0, OPTION_FILE_LIST, "FILE", "a shared object with a trigger, for --inject",
     FIELD(flags)},
    {"signal", 0, OPTION_LIST, "NAME", "send this signal at random moments; may be given again",
     FIELD(flags)},
    {"sample", 'n', OPTION_LIST, "N", "run N candidates, chosen at random, instead of all",
     FIELD(flags)},
    {"per", 0, OPTION_LIST, "GROUP", "N of every type, function, module, file or component",
     FIELD(flags)},
    {"weights", 0, OPTION_FILE_LIST, "FILE", "choose by weight: lines of FAULT-TYPE WEIGHT",
     FIELD(flags)},
    {"sweep", 0, OPTION_FLAG, NULL,
     "try the first occurrence, the second, and so on until nothing fires", FIELD(sweep)},
    {"repeat", 0, OPTION_LIST, "N", "run every candidate N times", FIELD(flags)},
    {"references", 'r', OPTION_LIST, "N", "fault-free runs before the first trial (5)",
     FIELD(flags)},
    {"expect-status", 0, OPTION_LIST, "N",
     "the workload ends with exit status N when all is well (0)", FIELD(flags)},
    {"compare", 0, OPTION_LIST, "LIST",
     "what must be as in the reference: stdout, stderr, files (stdout,files)", FIELD(flags)},
    {"ignore", 0, OPTION_LIST, "GLOB", "do not compare such files; may be given again",
     FIELD(flags)},
    {"filter", 0, OPTION_LIST, "s/RE/TEXT/",
     "replace in outputs before they are compared; may be given again", FIELD(flags)},
    {"oracle", 0, OPTION_LIST, "CMD", "a shell command that prints the verdict", FIELD(flags)},
    {"timeout", 't', OPTION_LIST, "TIME", "a trial that takes longer hangs", FIELD(flags)},
    {"timeout-factor", 0, OPTION_LIST, "X",
     "likewise, as so many times the reference's time (10, but at least 2s)", FIELD(flags)},
    {"ready", 0, OPTION_LIST, "WHEN",
     "the command is a server: port N, socket PATH, file PATH, output REGEX, command CMD or delay "
     "TIME",
     FIELD(flags)},
    {"load", 0, OPTION_LIST, "CMD", "drives the server; no faults in it", FIELD(flags)},
    {"stop", 0, OPTION_LIST, "HOW", "stops the server: a signal, a command, or none (SIGTERM)",
     FIELD(flags)},
    {"grace", 0, OPTION_LIST, "TIME", "the server has this time to stop (as long as a trial)",
     FIELD(flags)},
    {"long-lived", 0, OPTION_FLAG, NULL, "many faults in one life of the server",
     FIELD(long_lived)},
    {"setup", 0, OPTION_LIST, "CMD", "run this before every trial, in its sandbox", FIELD(flags)},
    {"pretest", 0, OPTION_LIST, "CMD", "must succeed before the workload", FIELD(flags)},
    {"posttest", 0, OPTION_LIST, "CMD", "must succeed after the workload", FIELD(flags)},
    {"teardown", 0, OPTION_LIST, "CMD", "run this after every trial", FIELD(flags)},
    {"input", 0, OPTION_FILE_LIST, "FILE", "standard input of the workload (/dev/null)",
     FIELD(flags)},
    {"env", 'e', OPTION_LIST, "NAME=VALUE", "a variable for the workload; may be given again",
     FIELD(flags)},
    {"sandbox", 0, OPTION_LIST, "KIND", "auto, overlay, copy or none", FIELD(flags)},
    {"private-network", 0, OPTION_FLAG, NULL, "trials have nothing but a loopback of their own",
     FIELD(private_network)},
    {"fork", 0, OPTION_LIST, "WHEN",
     "auto, never or always: one run of the program serves many trials, forked at the faults",
     FIELD(flags)},
    {"jobs", 'j', OPTION_LIST, "N", "trials at a time (as many as there are processors)",
     FIELD(flags)},
    {"seed", 0, OPTION_LIST, "N", "start of all random decisions; the report shows the one used",
     FIELD(flags)},
    {"time-budget", 0, OPTION_LIST, "TIME", "stop after this time: 90s, 10m, 2h", FIELD(flags)},
    {"max-trials", 0, OPTION_LIST, "N", "stop after so many trials", FIELD(flags)},
    {"until-interval", 0, OPTION_LIST, "WIDTH",
     "stop when the proportion of failures is known to WIDTH to either side, e.g. 0.02",
     FIELD(flags)},
    {"name", 0, OPTION_LIST, "NAME", "what reports call the campaign", FIELD(flags)},
    {"set", 0, OPTION_LIST, "KEY=VALUE", "any key of ordeal-campaign(5); may be given again",
     FIELD(flags)},
    {"db", 0, OPTION_FILE, "FILE", "where results are kept (ordeal.db)", FIELD(store)},
    {"resume", 0, OPTION_FLAG, NULL,
     "go on with the campaign that was interrupted or reached a limit", FIELD(resume)},
    {"fail-on", 0, OPTION_TEXT, "LIST",
     "verdicts that make the exit status 1: crash,hang,... (all failures)", FIELD(fail_on)},
    {"dry-run", 0, OPTION_FLAG, NULL,
     "print the complete definition and, after the reference runs, the number of candidates",
     FIELD(dry_run)},
    {"sample-size-for", 0, OPTION_TEXT, "WIDTH",
     "print how many trials estimate a proportion to WIDTH to either side; run nothing",
     FIELD(half_width)},
    {"quiet", 'q', OPTION_FLAG, NULL, "show no progress", FIELD(quiet)},
};

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

static struct error *report(struct store *store, const char *path, const struct campaign_end *end)
{
    const struct report_options how = {.database = path, .colour = output_colour(STDOUT_FILENO)};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(report_campaign_text(store, end->id, &how, &text));
    return output_print(&text);
}

static struct error *carry_out(const struct settings *settings, const struct campaign_words *words,
                               int *ret_status)
{
    const struct campaign_job job = {.words = words,
                                     .store = settings->store,
                                     .resume = settings->resume,
                                     .quiet = settings->quiet};
    bool failing[VERDICTS];
    TRY(campaign_parse_fail_on(settings->fail_on, failing));
    _cleanup_(store_closep) struct store *store = NULL;
    struct campaign_end end = {0};
    TRY(campaign_carry_out(&job, &store, &end));
    *ret_status = campaign_exit_status(&end, failing);
    return report(store, campaign_store_path(&job), &end);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct campaign_words words = {.flags = &settings->flags,
                                   .sweep = settings->sweep,
                                   .persistent = settings->persistent,
                                   .private_network = settings->private_network,
                                   .long_lived = settings->long_lived};
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
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .keeps_separator = true,
    .run = run,
};
