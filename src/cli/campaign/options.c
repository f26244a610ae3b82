// SPDX-License-Identifier: GPL-3.0-or-later
// The options that `ordeal campaign` and `ordeal test` share, and how the list of a command is put
// together.
#include "cli/campaign/options.h"

#include <string.h>

#define FIELD(name) offsetof(struct campaign_settings, name)
const struct campaign_option campaign_options[] = {
    {.option = {"name", 0, OPTION_LIST, "NAME", "what reports call the campaign", FIELD(flags)},
     .key = "campaign"},
    {.option = {"sample", 'n', OPTION_LIST, "N",
                "run N candidates, chosen at random, instead of all", FIELD(flags)},
     .key = "selection.sample"},
    {.option = {"per", 0, OPTION_LIST, "GROUP",
                "N of every type, function, module, file or component", FIELD(flags)},
     .key = "selection.per"},
    {.option = {"weights", 0, OPTION_FILE_LIST, "FILE",
                "choose by weight: lines of FAULT-TYPE WEIGHT", FIELD(flags)},
     .key = "selection.weights"},
    {.option = {"since", 0, OPTION_FILE_LIST, "DB",
                "try only calls in code that changed since that test; the others keep their "
                "verdicts",
                FIELD(flags)},
     .key = "selection.since"},
    {.option = {"since-rev", 0, OPTION_LIST, "REV",
                "try only calls in functions that have changed since that revision of Git",
                FIELD(flags)},
     .key = "selection.since_rev"},
    {.option = {"repeat", 0, OPTION_LIST, "N", "run every candidate N times", FIELD(flags)},
     .key = "selection.repeat"},
    {.option = {"references", 'r', OPTION_LIST, "N", "fault-free runs before the first trial",
                FIELD(flags)},
     .key = "oracle.references"},
    {.option = {"expect-status", 0, OPTION_LIST, "N",
                "the workload ends with exit status N when all is well (0)", FIELD(flags)},
     .key = "oracle.status"},
    {.option = {"compare", 0, OPTION_LIST, "LIST",
                "what must be as in the reference: stdout, stderr, files (stdout,files)",
                FIELD(flags)},
     .key = "oracle.compare"},
    {.option = {"behaviour", 0, OPTION_FLAG_LIST, NULL,
                "also compare every system call that other processes can notice", FIELD(flags)},
     .key = "oracle.behaviour",
     .value = "true"},
    {.option = {"invocations", 0, OPTION_LIST, "PROGRAM",
                "likewise, of each start of this program by the command, one by one", FIELD(flags)},
     .key = "oracle.invocations"},
    {.option = {"interface", 0, OPTION_LIST, "LIB",
                "also compare what this library gives its user; may be given again", FIELD(flags)},
     .key = "oracle.interface"},
    {.option = {"ignore", 0, OPTION_LIST, "GLOB", "do not compare such files; may be given again",
                FIELD(flags)},
     .key = "oracle.ignore"},
    {.option = {"filter", 0, OPTION_LIST, "s/RE/TEXT/",
                "replace in outputs before they are compared; may be given again", FIELD(flags)},
     .key = "oracle.filters"},
    {.option = {"oracle", 0, OPTION_LIST, "CMD", "a shell command that prints the verdict",
                FIELD(flags)},
     .key = "oracle.command"},
    {.option = {"timeout", 't', OPTION_LIST, "TIME", "a trial that takes longer hangs",
                FIELD(flags)},
     .key = "oracle.timeout.floor"},
    {.option = {"timeout-factor", 0, OPTION_LIST, "X",
                "likewise, as so many times the reference's time (10, but at least 2s)",
                FIELD(flags)},
     .key = "oracle.timeout.factor"},
    {.option = {"ready", 0, OPTION_LIST, "WHEN",
                "the command is a server: port N, socket PATH, file PATH, output REGEX, command "
                "CMD or delay TIME",
                FIELD(flags)},
     .key = "server.ready"},
    {.option = {"load", 0, OPTION_LIST, "CMD", "drives the server; no faults in it", FIELD(flags)},
     .key = "server.load"},
    {.option = {"stop", 0, OPTION_LIST, "HOW",
                "stops the server: a signal, a command, or none (SIGTERM)", FIELD(flags)},
     .key = "server.stop"},
    {.option = {"grace", 0, OPTION_LIST, "TIME",
                "the server has this time to stop (as long as a trial)", FIELD(flags)},
     .key = "server.grace"},
    {.option = {"long-lived", 0, OPTION_FLAG_LIST, NULL, "many faults in one life of the server",
                FIELD(flags)},
     .key = "server.long_lived",
     .value = "true"},
    {.option = {"setup", 0, OPTION_LIST, "CMD", "run this before every trial, in its sandbox",
                FIELD(flags)},
     .key = "setup"},
    {.option = {"pretest", 0, OPTION_LIST, "CMD", "must succeed before the workload", FIELD(flags)},
     .key = "pretest"},
    {.option = {"posttest", 0, OPTION_LIST, "CMD", "must succeed after the workload", FIELD(flags)},
     .key = "posttest"},
    {.option = {"teardown", 0, OPTION_LIST, "CMD", "run this after every trial", FIELD(flags)},
     .key = "teardown"},
    {.option = {"input", 0, OPTION_FILE_LIST, "FILE", "standard input of the workload (/dev/null)",
                FIELD(flags)},
     .key = "input"},
    {.option = {"inputs", 0, OPTION_FILE_LIST, "DIRECTORY",
                "run the workload with each file of this directory, in place of {} or as its "
                "standard input",
                FIELD(flags)},
     .key = "inputs.directory"},
    {.option = {"env", 'e', OPTION_LIST, "NAME=VALUE",
                "a variable for the workload; may be given again", FIELD(flags)},
     .key = "environment"},
    {.option = {"secret", 0, OPTION_LIST, "NAME",
                "do not store the value of this variable, and mask it in outputs; also a pattern; "
                "may be given again",
                FIELD(flags)},
     .key = "secret"},
    {.option = {"sandbox", 0, OPTION_LIST, "KIND", "auto, overlay, copy or none", FIELD(flags)},
     .key = "sandbox.kind"},
    {.option = {"private-network", 0, OPTION_FLAG_LIST, NULL,
                "trials have nothing but a loopback of their own", FIELD(flags)},
     .key = "sandbox.network",
     .value = "private"},
    {.option = {"engine", 0, OPTION_LIST, "NAME",
                "where trials run: local, or slurm, a cluster (local)", FIELD(flags)},
     .key = "engine"},
    {.option = {"fork", 0, OPTION_LIST, "WHEN",
                "auto, never or always: one run of the program serves many trials, forked at the "
                "faults",
                FIELD(flags)},
     .key = "fork"},
    {.option = {"jobs", 'j', OPTION_LIST, "N", "trials at a time (as many as there are processors)",
                FIELD(flags)},
     .key = "jobs",
     .limit = true},
    {.option = {"seed", 0, OPTION_LIST, "N", "start of all random decisions", FIELD(flags)},
     .key = "seed"},
    {.option = {"time-budget", 0, OPTION_LIST, "TIME", "stop after this time: 90s, 10m, 2h",
                FIELD(flags)},
     .key = "time_budget",
     .limit = true},
    {.option = {"max-trials", 0, OPTION_LIST, "N", "stop after so many trials", FIELD(flags)},
     .key = "max_trials",
     .limit = true},
    {.option = {"stop-after", 0, OPTION_LIST, "N", "stop when N findings are confirmed",
                FIELD(flags)},
     .key = "stop_after",
     .limit = true},
    {.option = {"scope", 0, OPTION_LIST, "WHICH",
                "findings that count: mine (your own code; the others are not shown) or all; "
                "without it: only mine count, the others are listed after them",
                FIELD(flags)},
     .key = "scope",
     .limit = true},
    {.option = {"mine", 0, OPTION_LIST, "GLOB",
                "such programs and modules are your own code, instead of what lies in the "
                "repository; may be given again",
                FIELD(flags)},
     .key = "mine"},
    {.option = {"until-interval", 0, OPTION_LIST, "WIDTH",
                "stop when the proportion of failures is known to WIDTH to either side, e.g. 0.02",
                FIELD(flags)},
     .key = "until_interval",
     .limit = true},
    {.option = {"set", 0, OPTION_LIST, "KEY=VALUE",
                "any key of ordeal-campaign(5); may be given again", FIELD(flags)}},
    {.option = {"db", 0, OPTION_FILE, "FILE", "where results are kept (ordeal.db)", FIELD(store)}},
    {.option = {"resume", 0, OPTION_FLAG, NULL,
                "go on with the campaign that was interrupted or reached a limit", FIELD(resume)}},
    {.option = {"fail-on", 0, OPTION_TEXT, "LIST",
                "verdicts and severities that make the exit status 1: crash,critical,... (all "
                "failures)",
                FIELD(fail_on)}},
    {.option = {"proof", 0, OPTION_TEXT, "WHICH",
                "findings to show, by whether their faults can happen: certain, caused, all; "
                "without it: all but the impossible",
                FIELD(proof)}},
    {.option = {"no-project-file", 0, OPTION_FLAG, NULL,
                "do not read the project's settings from .ordeal.yaml", FIELD(no_project_file)}},
    {.option = {"verbose", 'v', OPTION_FLAG, NULL,
                "also print tables of classes and groups, with tests of their differences",
                FIELD(verbose)}},
    {.option = {"quiet", 'q', OPTION_FLAG, NULL, "show no progress", FIELD(quiet)}},
    {.option = {0}},
};

static struct campaign_option of_injector(const struct injector *injector,
                                          const struct injector_option *option)
{
    return (struct campaign_option){
        .option = {.name = option->name,
                   .letter = option->letter,
                   .kind = option->argument == NULL ? OPTION_FLAG_LIST
                           : option->file           ? OPTION_FILE_LIST
                                                    : OPTION_LIST,
                   .value = option->argument,
                   .help = option->help,
                   .field = FIELD(flags)},
        .key = option->parameter,
        .value = option->value,
        .injector = injector,
    };
}

// The row without a name if there is none: a test finds that.
static const struct campaign_option *shared_named(const char *name)
{
    const struct campaign_option *option = campaign_options;
    while (option->option.name != NULL && strcmp(option->option.name, name) != 0)
        option++;
    return option;
}

struct campaign_option campaign_option_named(bool test, const char *name)
{
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const struct injector_option *option = injectors[i]->options;
        for (; option != NULL && option->name != NULL; option++)
            if (option->test == test && strcmp(option->name, name) == 0)
                return of_injector(injectors[i], option);
    }
    return *shared_named(name);
}

// Finds option *index among those of the injectors. If there are fewer, subtracts their number from
// *index.
static bool of_injectors_at(bool test, size_t *index, struct option *ret_option)
{
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const struct injector_option *option = injectors[i]->options;
        for (; option != NULL && option->name != NULL; option++)
            if (option->test == test && (*index)-- == 0) {
                *ret_option = of_injector(injectors[i], option).option;
                return true;
            }
    }
    return false;
}

bool campaign_option_at(const struct campaign_row *rows, size_t count, bool test, size_t index,
                        struct option *ret_option)
{
    for (const struct campaign_row *row = rows; row < rows + count; row++) {
        if (row->of_injectors) {
            if (of_injectors_at(test, &index, ret_option))
                return true;
        } else if (index-- == 0) {
            *ret_option = row->shared != NULL ? shared_named(row->shared)->option : row->own;
            if (row->help != NULL)
                ret_option->help = row->help;
            return true;
        }
    }
    return false;
}
