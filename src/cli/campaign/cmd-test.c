// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal test: finds failures of library functions that a program does not survive, without being
// told what to look for. It is a campaign like any other, but Ordeal chooses the faults.
#include "cli/registry.h"

#include "cli/campaign/test-run.h"

#include <string.h>

#define FIELD(name) offsetof(struct test_settings, name)
static const struct campaign_row rows[] = {
    {.shared = "time-budget", .help = "stop after this time: 90s, 10m, 2h (60s)"},
    {.shared = "max-trials"},
    {.shared = "stop-after"},
    {.shared = "scope"},
    {.shared = "mine"},
    {.of_injectors = true},
    {.shared = "references", .help = "fault-free runs before the first trial (3)"},
    {.shared = "expect-status"},
    {.shared = "behaviour"},
    {.shared = "invocations"},
    {.shared = "interface"},
    {.shared = "ignore"},
    {.shared = "filter"},
    {.shared = "timeout"},
    {.shared = "ready"},
    {.shared = "load"},
    {.shared = "stop"},
    {.shared = "grace"},
    {.shared = "long-lived"},
    {.shared = "setup"},
    {.shared = "input"},
    {.shared = "env"},
    {.shared = "secret"},
    {.shared = "sandbox"},
    {.shared = "private-network",
     .help = "every trial has a loopback of its own and nothing else: for tests with fixed ports"},
    {.shared = "fork"},
    {.shared = "jobs"},
    {.shared = "seed"},
    {.shared = "set"},
    {.shared = "db"},
    {.shared = "resume", .help = "go on with the test that was interrupted or reached a limit"},
    {.shared = "fail-on"},
    {.shared = "since"},
    {.shared = "since-rev"},
    {.shared = "proof"},
    {.own = {"suppressions", 0, OPTION_FILE_LIST, "FILE",
             "do not show the findings that the file describes; may be given again",
             FIELD(suppressions)}},
    {.own = {"gen-suppressions", 0, OPTION_FLAG, NULL,
             "print suppressions for all findings that are shown", FIELD(generate)}},
    {.own = {"show-suppressions", 0, OPTION_FLAG, NULL,
             "say how often each suppression was used, also those that never were",
             FIELD(show_suppressions)}},
#define OPTION(symbol, kind, help)                                                                 \
    {.own = FORMAT_OPTION(struct test_settings, formats, symbol, kind, help)},
    REPORT_FORMATS(OPTION)
#undef OPTION
        {.shared = "no-project-file"},
    {.shared = "verbose"},
    {.shared = "quiet"},
};

static bool option_at(size_t index, struct option *ret_option)
{
    return campaign_option_at(rows, sizeof rows / sizeof *rows, true, index, ret_option);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct test_settings *settings = data;
    struct campaign_arguments words = {.flags = &settings->common.flags,
                                       .test = true,
                                       .no_project_file = settings->common.no_project_file};
    if (operands[0] != NULL && strcmp(operands[0], "--") == 0)
        operands++;
    words.command = operands[0] != NULL ? operands : NULL;
    const struct campaign_job job = {.words = &words,
                                     .store = settings->common.store,
                                     .resume = settings->common.resume,
                                     .quiet = settings->common.quiet};
    return test_run(settings, &job, ret_status);
}

const struct command cmd_test = {
    .name = "test",
    .summary = "Find failures of library functions that a command does not survive.",
    .operands = "-- COMMAND [ARGUMENT]...",
    .details =
        "The command runs a few times as it is, and every call of a library function is noted.\n"
        "Then each call that can really fail is made to fail, one in each run. Calls whose result\n"
        "the code does not check come first. Every run has a fresh sandbox. Neither the source "
        "nor\n"
        "a scenario is needed.\n"
        "\n"
        "The exit status is 0 if nothing was found, 1 if something was, 2 if the test could not\n"
        "run to its end, 3 if there was nothing to test.\n"
        "\n"
        "  ordeal test -- make check\n"
        "  ordeal test --time-budget 10m --html report.html -- ./server --selftest\n"
        "  ordeal test --functions 'malloc' --modules 'libfoo*' -- ./client\n"
        "  ordeal test --ready 'port 6399' --load 'redis-cli -p 6399 ping' \\\n"
        "      -- redis-server --port 6399\n",
    .option_at = option_at,
    .environment_options = true,
    .settings_size = sizeof(struct test_settings),
    .most = UINT32_MAX,
    .command_follows = true,
    .run = run,
};
