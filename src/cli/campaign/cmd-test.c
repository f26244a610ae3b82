// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal test: which failures of library functions a program does not survive, without being told
// what to look for. A campaign like any other, with faults that are chosen.
#include "cli/registry.h"

#include "cli/campaign/test-run.h"

#include <string.h>

#define FIELD(name) offsetof(struct test_settings, name)
static const struct option options[] = {
    {"time-budget", 0, OPTION_LIST, "TIME", "stop after this time: 90s, 10m, 2h (60s)",
     FIELD(flags)},
    {"max-trials", 0, OPTION_LIST, "N", "stop after so many trials", FIELD(flags)},
    {"functions", 0, OPTION_LIST, "GLOB", "fail these functions only; may be given again",
     FIELD(flags)},
    {"modules", 0, OPTION_LIST, "GLOB",
     "in calls by these programs and libraries only; may be given again", FIELD(flags)},
    {"exclude", 0, OPTION_LIST, "GLOB",
     "leave out such functions, programs and libraries; may be given again", FIELD(flags)},
    {"depth", 0, OPTION_LIST, "N", "2: second failures in the code that handles the first, too (1)",
     FIELD(flags)},
    {"paranoid", 0, OPTION_FLAG, NULL, "errors that are possible but hardly ever happen, too",
     FIELD(paranoid)},
    {"coverage", 0, OPTION_FLAG, NULL,
     "measure how much of the code that only runs after failures is executed", FIELD(coverage)},
    {"references", 'r', OPTION_LIST, "N", "fault-free runs before the first trial (3)",
     FIELD(flags)},
    {"expect-status", 0, OPTION_LIST, "N",
     "the workload ends with exit status N when all is well (0)", FIELD(flags)},
    {"ignore", 0, OPTION_LIST, "GLOB", "do not compare such files; may be given again",
     FIELD(flags)},
    {"filter", 0, OPTION_LIST, "s/RE/TEXT/",
     "replace in outputs before they are compared; may be given again", FIELD(flags)},
    {"timeout", 't', OPTION_LIST, "TIME", "a trial that takes longer hangs", FIELD(flags)},
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
    {"input", 0, OPTION_FILE_LIST, "FILE", "standard input of the workload (/dev/null)",
     FIELD(flags)},
    {"env", 'e', OPTION_LIST, "NAME=VALUE", "a variable for the workload; may be given again",
     FIELD(flags)},
    {"sandbox", 0, OPTION_LIST, "KIND", "auto, overlay, copy or none", FIELD(flags)},
    {"private-network", 0, OPTION_FLAG, NULL,
     "every trial has a loopback of its own and nothing else: for tests with fixed ports",
     FIELD(private_network)},
    {"fork", 0, OPTION_LIST, "WHEN",
     "auto, never or always: one run of the program serves many trials, forked at the faults",
     FIELD(flags)},
    {"jobs", 'j', OPTION_LIST, "N", "trials at a time (as many as there are processors)",
     FIELD(flags)},
    {"seed", 0, OPTION_LIST, "N", "start of all random decisions", FIELD(flags)},
    {"set", 0, OPTION_LIST, "KEY=VALUE", "any key of ordeal-campaign(5); may be given again",
     FIELD(flags)},
    {"db", 0, OPTION_FILE, "FILE", "where results are kept (ordeal.db)", FIELD(store)},
    {"resume", 0, OPTION_FLAG, NULL, "go on with the test that was interrupted or reached a limit",
     FIELD(resume)},
    {"fail-on", 0, OPTION_TEXT, "LIST",
     "verdicts that make the exit status 1: crash,hang,... (all failures)", FIELD(fail_on)},
    {"since", 0, OPTION_FILE_LIST, "DB",
     "try only calls in code that changed since that test; the others keep their verdicts",
     FIELD(flags)},
    {"suppressions", 0, OPTION_FILE_LIST, "FILE",
     "do not show the findings that the file describes; may be given again", FIELD(suppressions)},
    {"gen-suppressions", 0, OPTION_FLAG, NULL, "print suppressions for all findings that are shown",
     FIELD(generate)},
    {"show-suppressions", 0, OPTION_FLAG, NULL,
     "say how often each suppression was used, also those that never were",
     FIELD(show_suppressions)},
    {"html", 0, OPTION_FILE, "FILE",
     "write the report as a page for browsers, too; - is the standard output", FIELD(html)},
    {"junit", 0, OPTION_FILE, "FILE", "write JUnit XML for continuous integration, too",
     FIELD(junit)},
    {"sarif", 0, OPTION_FILE, "FILE", "write the findings as SARIF 2.1.0, too", FIELD(sarif)},
    {"json", 0, OPTION_FLAG, NULL, "print the report as JSON lines", FIELD(json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "show no progress", FIELD(quiet)},
};
static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct test_settings *settings = data;
    struct campaign_words words = {.flags = &settings->flags,
                                   .automatic = true,
                                   .paranoid = settings->paranoid,
                                   .coverage = settings->coverage,
                                   .private_network = settings->private_network,
                                   .long_lived = settings->long_lived};
    if (operands[0] != NULL && strcmp(operands[0], "--") == 0)
        operands++;
    words.command = operands[0] != NULL ? operands : NULL;
    if (words.command == NULL && !settings->resume)
        return error_new("what is to be tested? ordeal test [OPTION]... -- COMMAND");
    const struct campaign_job job = {.words = &words,
                                     .store = settings->store,
                                     .resume = settings->resume,
                                     .quiet = settings->quiet};
    return test_run(settings, &job, ret_status);
}

const struct command cmd_test = {
    .name = "test",
    .summary = "Find failures of library functions that a command does not survive.",
    .operands = "-- COMMAND [ARGUMENT]...",
    .details =
        "The command runs a few times as it is, and every call of a library function is noted.\n"
        "Then, call by call, what can really fail is made to fail, where the code does not look\n"
        "at the result first, each time in a fresh sandbox. Needs no source and no scenario.\n"
        "\n"
        "The exit status is 0 if nothing was found, 1 if something was, 2 if the test could not\n"
        "run to its end, 3 if there was nothing to test.\n"
        "\n"
        "  ordeal test -- make check\n"
        "  ordeal test --time-budget 10m --html report.html -- ./server --selftest\n"
        "  ordeal test --functions 'malloc' --modules 'libfoo*' -- ./client\n"
        "  ordeal test --ready 'port 6399' --load 'redis-cli -p 6399 ping' \\\n"
        "      -- redis-server --port 6399\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct test_settings),
    .most = UINT32_MAX,
    .command_follows = true,
    .run = run,
};
