// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all keys of a campaign file. docs/ordeal-campaign.5 documents them; a test compares
// both.
#include "definition/schema.h"

#include <string.h>

#define FIELD(member) offsetof(struct definition, member)
#define MANY          1e15
#define MANY32        1e6

const struct schema_field schema_fields[] = {
    {"campaign", SCHEMA_TEXT, FIELD(name), NULL, 0, 0, "name, for reports"},
    {"command", SCHEMA_COMMAND, FIELD(command), NULL, 0, 0,
     "the workload: a list of words, or a text for /bin/sh"},
    {"directory", SCHEMA_PATH, FIELD(directory), NULL, 0, 0,
     "working directory of all commands (the current one)"},
    {"environment", SCHEMA_ENVIRONMENT, FIELD(environment), NULL, 0, 0,
     "NAME: VALUE, added to this environment; as a list of NAME=VALUE (NAME: as it is "
     "here), instead of it"},
    {"secret", SCHEMA_PATTERNS, FIELD(secret), NULL, 0, 0,
     "patterns of names of variables whose values are not stored"},
    {"input", SCHEMA_PATH, FIELD(input), NULL, 0, 0, "file for the standard input (/dev/null)"},
    {"inputs.commands", SCHEMA_COMMANDS, FIELD(inputs.commands), NULL, 0, 0,
     "the workload, once for each input: a list of commands"},
    {"inputs.files", SCHEMA_PATTERNS, FIELD(inputs.files), NULL, 0, 0,
     "or files: each takes the place of {} in the command, or is its standard input"},
    {"inputs.directory", SCHEMA_DIRECTORY, FIELD(inputs.files), NULL, 0, 0,
     "or a directory of such files"},
    {"server.ready", SCHEMA_TEXT, FIELD(service.ready), NULL, 0, 0,
     "the command is a server, ready by then: port N, socket PATH, file PATH, output REGEX, "
     "command "
     "CMD or delay TIME"},
    {"server.load", SCHEMA_COMMAND, FIELD(service.load), NULL, 0, 0,
     "drives the server; without faults of its own"},
    {"server.stop", SCHEMA_TEXT, FIELD(service.stop), NULL, 0, 0,
     "how the server is stopped: a signal, a command, or none (SIGTERM)"},
    {"server.grace", SCHEMA_NS, FIELD(service.grace_ns), NULL, 0, 1e15,
     "time it has to stop in (as long as a trial)"},
    {"server.long_lived", SCHEMA_BOOL, FIELD(service.long_lived), "false|true", 0, 0,
     "many faults in one life of the server, one after the other"},
    {"setup", SCHEMA_COMMAND, FIELD(setup), NULL, 0, 0,
     "runs first in every trial; what it starts may go on until the end"},
    {"pretest", SCHEMA_COMMAND, FIELD(pretest), NULL, 0, 0,
     "must succeed before the workload, or the trial is invalid"},
    {"posttest", SCHEMA_COMMAND, FIELD(posttest), NULL, 0, 0,
     "must succeed after the workload, or the verdict is unstable"},
    {"teardown", SCHEMA_COMMAND, FIELD(teardown), NULL, 0, 0, "runs last in every trial"},
    {"injector", SCHEMA_INJECTOR, FIELD(injector), NULL, 0, 0,
     "NAME: {PARAMETER: VALUE}, the way faults are injected"},
    // The sample comes before the kind: a number means sampling, unless the kind says otherwise.
    {"selection.sample", SCHEMA_SAMPLE, FIELD(selection.sample), NULL, 1, MANY,
     "run so many candidates, chosen at random"},
    {"selection.kind", SCHEMA_CHOICE, FIELD(selection.kind), "all|sample|sweep", 0, 0,
     "all candidates, a sample, or one occurrence after the other until nothing fires"},
    {"selection.per", SCHEMA_TEXT, FIELD(selection.per), "type|function|module|file|component", 0,
     0, "so many of every group instead of in all"},
    {"selection.weights", SCHEMA_PATH, FIELD(selection.weights_file), NULL, 0, 0,
     "file of FAULT-TYPE WEIGHT lines"},
    {"selection.most", SCHEMA_COUNT, FIELD(selection.most), NULL, 0, MANY,
     "last occurrence that a sweep tries (10000)"},
    {"selection.order", SCHEMA_CHOICE, FIELD(selection.order), "random|listed", 0, 0,
     "trials at random, or in the order in which the injector lists candidates"},
    {"selection.since", SCHEMA_PATH, FIELD(selection.since), NULL, 0, 0,
     "a store of an earlier campaign: calls in code that has not changed keep their verdicts"},
    {"selection.since_rev", SCHEMA_TEXT, FIELD(selection.since_revision), NULL, 0, 0,
     "a revision of Git: only calls in functions that have changed since then are tried"},
    {"selection.repeat", SCHEMA_COUNT, FIELD(selection.repeat), NULL, 1, MANY,
     "trials per candidate (1)"},
    {"selection.until_activated", SCHEMA_BOOL, FIELD(selection.until_activated), "false|true", 0, 0,
     "no more trials of a candidate once its fault was activated"},
    {"oracle.references", SCHEMA_COUNT32, FIELD(oracle.references), NULL, 1, 10000,
     "fault-free runs before the first trial (5)"},
    {"oracle.spread", SCHEMA_NS, FIELD(oracle.spread_ns), NULL, 0, 6e10,
     "time from the first to the last of them at least, so that clocks show in outputs (0s)"},
    {"oracle.status", SCHEMA_COUNT32, FIELD(oracle.status), NULL, 0, 255,
     "exit status that the workload is to end with, without faults (0)"},
    {"oracle.compare", SCHEMA_COMPARE, FIELD(oracle), "stdout|stderr|files", 0, 0,
     "what must be as in the reference ([stdout, files])"},
    {"oracle.behaviour", SCHEMA_BOOL, FIELD(oracle.behaviour), "false|true", 0, 0,
     "compare every visible system call with the reference, too"},
    {"oracle.invocations", SCHEMA_PATH, FIELD(oracle.invocations), NULL, 0, 0,
     "likewise, of each start of this program by the command, one by one"},
    {"oracle.interface", SCHEMA_PATTERNS, FIELD(oracle.interface), NULL, 0, 0,
     "libraries: compare what they give their user with the reference, too"},
    {"oracle.ignore", SCHEMA_PATTERNS, FIELD(oracle.ignored), NULL, 0, 0,
     "patterns of paths that are not compared"},
    {"oracle.filters", SCHEMA_FILTERS, FIELD(oracle.filters), NULL, 0, 0,
     "{match: REGEX, with: TEXT}, replacements before outputs are compared"},
    {"oracle.command", SCHEMA_COMMAND, FIELD(oracle.command), NULL, 0, 0,
     "prints a verdict, or nothing"},
    {"oracle.timeout.factor", SCHEMA_REAL, FIELD(oracle.timeout_factor), NULL, 0, 1e6,
     "a trial hangs when it takes so many times the reference (10)"},
    {"oracle.timeout.floor", SCHEMA_NS, FIELD(oracle.timeout_floor_ns), NULL, 1, 1e18,
     "and at least so long (2s)"},
    {"sandbox.kind", SCHEMA_CHOICE, FIELD(sandbox), SANDBOX_KINDS, 0, 0,
     "how the file system is protected"},
    {"sandbox.network", SCHEMA_CHOICE, FIELD(network), "auto|host|private", 0, 0,
     "whether trials have a network of their own (auto: where they use one and need nobody else)"},
    {"sandbox.limits.cpu", SCHEMA_S, FIELD(limits.cpu_s), NULL, 0, 1e9, "processor time"},
    {"sandbox.limits.memory", SCHEMA_SIZE, FIELD(limits.memory_bytes), NULL, 0, 1e18, "memory"},
    {"sandbox.limits.file", SCHEMA_SIZE, FIELD(limits.file_bytes), NULL, 0, 1e18,
     "size of a file (1G)"},
    {"sandbox.limits.processes", SCHEMA_COUNT, FIELD(limits.processes), NULL, 0, MANY32,
     "processes at a time"},
    {"sandbox.limits.core", SCHEMA_BOOL, FIELD(limits.core), "false|true", 0, 0,
     "whether core files may be written"},
    {"engine", SCHEMA_TEXT, FIELD(engine), "local|slurm", 0, 0, "where trials run"},
    {"cluster.directory", SCHEMA_PATH, FIELD(cluster.directory), NULL, 0, 0,
     "a directory that all machines share (beside the store)"},
    {"cluster.partition", SCHEMA_TEXT, FIELD(cluster.partition), NULL, 0, 0,
     "which machines to use (the cluster's default)"},
    {"cluster.options", SCHEMA_PATTERNS, FIELD(cluster.options), NULL, 0, 0,
     "further options for the command that submits jobs"},
    {"fork", SCHEMA_CHOICE, FIELD(forks), "auto|never|always", 0, 0,
     "whether one run of the workload serves many trials, forked where the faults are injected"},
    {"jobs", SCHEMA_COUNT32, FIELD(jobs), NULL, 0, 4096,
     "trials at a time (0: as many as there are processors)"},
    {"seed", SCHEMA_COUNT, FIELD(seed), NULL, 0, 9007199254740992.0,
     "start of all random decisions"},
    {"time_budget", SCHEMA_NS, FIELD(time_budget_ns), NULL, 0, 1e18, "stop after this time"},
    {"max_trials", SCHEMA_COUNT, FIELD(max_trials), NULL, 0, MANY, "stop after so many trials"},
    {"stop_after", SCHEMA_COUNT, FIELD(stop_after), NULL, 0, MANY,
     "stop when so many findings are confirmed"},
    {"until_interval", SCHEMA_REAL, FIELD(until_interval), NULL, 0, 0.5,
     "stop when the proportion of failures is known this well"},
    {"confirm", SCHEMA_BOOL, FIELD(confirm), "false|true", 0, 0,
     "run the trial of each new finding twice more"},
    {"scope", SCHEMA_CHOICE, FIELD(scope), "first|mine|all", 0, 0,
     "findings in your own code come first and only they count (first); only they are shown; or "
     "all count alike"},
    {"mine", SCHEMA_PATTERNS, FIELD(mine), NULL, 0, 0,
     "patterns of programs and modules that are your own code (what lies in the repository)"},
    {0},
};

static bool ends_with_key(const char *whole, const char *key)
{
    size_t size = strlen(whole), wanted = strlen(key);
    return wanted < size && whole[size - wanted - 1] == '.' &&
           strcmp(whole + size - wanted, key) == 0;
}

const struct schema_field *schema_find(const char *key)
{
    const struct schema_field *found = NULL;
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++)
        if (strcmp(field->key, key) == 0)
            return field;
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        if (!ends_with_key(field->key, key))
            continue;
        if (found != NULL)
            return NULL;
        found = field;
    }
    return found;
}

bool schema_is_section(const char *key, size_t size)
{
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++)
        if (strncmp(field->key, key, size) == 0 && field->key[size] == '.')
            return true;
    return false;
}
