// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal fidelity: measures how well the faults that a workload activates reflect those that exist.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/faults/fidelity-run.h"
#include "cli/faults/fidelity-show.h"
#include "definition/weights.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    struct option_list counts, binaries, campaigns;
    struct option_number runs;
    const char *keep, *label, *weights, *model;
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"runs", 'n', OPTION_NUMBER, "N", "run the command N times (1); ORDEAL_RUN has the number",
     FIELD(runs)},
    {"counts", 'c', OPTION_FILE_LIST, "[LABEL=]DIR",
     "show what was counted before; given again, workloads are compared", FIELD(counts)},
    {"keep", 'k', OPTION_FILE, "DIR", "keep the counts of the command in a new directory",
     FIELD(keep)},
    {"label", 'l', OPTION_TEXT, "TEXT", "what to call the command", FIELD(label)},
    {"binary", 'b', OPTION_FILE_LIST, "FILE",
     "a program or library that counted, where the counts do not know; may be given again",
     FIELD(binaries)},
    {"match-output", 'm', OPTION_FILE, "FILE",
     "write weights with which the activated faults follow the model", FIELD(weights)},
    {"model", 0, OPTION_FILE, "FILE",
     "the fault model: lines 'TYPE SHARE' (as many as there are candidates)", FIELD(model)},
    {"campaign", 0, OPTION_FILE_LIST, "DB",
     "compare what the campaign of a store activated with the model; may be given again",
     FIELD(campaigns)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON", FIELD(json)},
};

struct fidelity_work {
    ARRAY(struct fidelity_subject) subjects; // one per workload
    ARRAY(struct fidelity_workload) workloads;
    ARRAY(struct fidelity_campaign) campaigns;
    ARRAY(struct fidelity_result) results;
    struct fidelity_match match;
    struct counted_runs counted_runs;
};

static void work_deinit(struct fidelity_work *work)
{
    for (size_t i = 0; i < work->workloads.count; i++)
        fidelity_workload_deinit(&work->workloads.items[i]);
    for (size_t i = 0; i < work->results.count; i++)
        fidelity_result_deinit(&work->results.items[i]);
    ARRAY_DEINIT(&work->workloads);
    ARRAY_DEINIT(&work->results);
    fidelity_match_deinit(&work->match);
    for (size_t i = 0; i < work->subjects.count; i++)
        fidelity_subject_deinit(&work->subjects.items[i]);
    ARRAY_DEINIT(&work->subjects);
    ARRAY_DEINIT(&work->campaigns);
    counted_runs_deinit(&work->counted_runs);
}

// ---- counts ----

static struct error *add_workload(struct fidelity_work *work, const char *label,
                                  const char *directory)
{
    struct fidelity_workload *workload = ARRAY_ADD(&work->workloads);
    if (workload == NULL)
        return error_no_memory();
    TRY(fidelity_workload_read(label, directory, workload));
    for (size_t i = 0; i < workload->runs.count; i++)
        for (size_t j = 0; j < workload->runs.items[i].files.count; j++)
            if (workload->runs.items[i].files.items[j].cut)
                fprintf(stderr,
                        "ordeal: %s: a process was killed as it began to count; what it had not "
                        "come to counts as not executed\n",
                        workload->runs.items[i].files.items[j].path);
    return NULL;
}

static struct error *add_counted(struct fidelity_work *work, const struct option_list *counts)
{
    for (size_t i = 0; i < counts->entries.count; i++) {
        const char *value = counts->entries.items[i].value, *equals = strchr(value, '=');
        _cleanup_free_ char *label =
            equals != NULL ? strndup(value, (size_t)(equals - value)) : strdup(value);
        if (label == NULL)
            return error_no_memory();
        TRY(add_workload(work, label, equals != NULL ? equals + 1 : value));
    }
    return NULL;
}

static struct error *run_command(const struct settings *settings, char **command,
                                 struct fidelity_work *work)
{
    size_t runs = settings->runs.given ? settings->runs.value : 1;
    if (runs == 0 || runs > 10000)
        return error_new("--runs takes a number from 1 to 10000");
    TRY(counted_runs_make(command, runs, settings->keep, &work->counted_runs));
    if (work->counted_runs.failed != 0)
        fprintf(stderr, "ordeal: %zu of %zu runs did not end with status 0\n",
                work->counted_runs.failed, runs);
    return add_workload(work, settings->label != NULL ? settings->label : file_base_name(*command),
                        work->counted_runs.directory);
}

// Each workload is measured against the programs that it ran.
static struct error *open_binaries(const struct settings *settings, struct fidelity_work *work,
                                   size_t number)
{
    struct fidelity_subject *subject = ARRAY_ADD(&work->subjects);
    if (subject == NULL)
        return error_no_memory();
    for (size_t i = 0; i < settings->binaries.entries.count; i++)
        TRY(fidelity_subject_add(subject, settings->binaries.entries.items[i].value));
    if (settings->binaries.entries.count == 0)
        TRY(fidelity_subject_add_counted(subject, &work->workloads.items[number]));
    return fidelity_subject_finish(subject);
}

static struct error *measure(const struct settings *settings, struct fidelity_work *work)
{
    for (size_t i = 0; i < work->workloads.count; i++) {
        TRY(open_binaries(settings, work, i));
        struct fidelity_result *result = ARRAY_ADD(&work->results);
        if (result == NULL)
            return error_no_memory();
        const struct fidelity_subject *subject = &work->subjects.items[i];
        TRY(fidelity_workload_add_up(&work->workloads.items[i], subject));
        TRY(fidelity_measure(subject, &work->workloads.items[i], result));
    }
    return NULL;
}

// ---- weights ----

static struct error *read_model(const char *path, const struct fidelity_result *result,
                                double **ret_model)
{
    struct weights weights = {0};
    TRY(weights_read(path, &weights));
    double *model = calloc(result->types.count + 1, sizeof *model);
    for (size_t i = 0; model != NULL && i < result->types.count; i++)
        for (size_t j = weights.lines.count; j > 0; j--) // backwards, so that the first match wins
            if (fnmatch(weights.lines.items[j - 1].type, result->types.items[i].name, 0) == 0)
                model[i] = weights.lines.items[j - 1].weight;
    weights_deinit(&weights);
    *ret_model = model;
    return model != NULL ? NULL : error_no_memory();
}

static struct error *match(const struct settings *settings, struct fidelity_work *work)
{
    _cleanup_free_ double *model = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (settings->model != NULL)
        TRY(read_model(settings->model, work->results.items, &model));
    TRY(fidelity_match(work->results.items, model, &work->match));
    for (size_t i = 0; i < settings->campaigns.entries.count; i++) {
        struct fidelity_campaign *campaign = ARRAY_ADD(&work->campaigns);
        if (campaign == NULL)
            return error_no_memory();
        TRY(fidelity_campaign_read(settings->campaigns.entries.items[i].value, work->results.items,
                                   &work->match, campaign));
    }
    if (settings->weights == NULL)
        return NULL;
    TRY(fidelity_put_weights(work->results.items, &work->match, &text));
    _cleanup_(output_close) struct output output;
    TRY(output_open(settings->weights, STDOUT_FILENO, &output));
    return output_put(&output, &text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(work_deinit) struct fidelity_work work = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (operands[0] == NULL && settings->counts.entries.count == 0)
        return error_new("nothing to look at: 'ordeal fidelity -- COMMAND' runs a command, "
                         "'ordeal fidelity --counts DIR' shows what was counted before");
    if (operands[0] == NULL && (settings->keep != NULL || settings->runs.given))
        return error_new("--keep and --runs are about a command, and there is none");
    if (operands[0] != NULL)
        TRY(run_command(settings, operands, &work));
    TRY(add_counted(&work, &settings->counts));
    TRY(measure(settings, &work));
    bool matching = settings->weights != NULL || settings->model != NULL ||
                    settings->campaigns.entries.count != 0;
    if (matching)
        TRY(match(settings, &work));
    const struct fidelity_shown shown = {
        .subjects = work.subjects.items,
        .workloads = work.workloads.items,
        .results = work.results.items,
        .count = work.workloads.count,
        .match = matching ? &work.match : NULL,
        .campaigns = work.campaigns.items,
        .campaign_count = work.campaigns.count,
    };
    TRY(settings->json ? fidelity_put_json(&shown, &text) : fidelity_put_text(&shown, &text));
    return output_print(&text);
}

const struct command cmd_fidelity = {
    .name = "fidelity",
    .summary = "Show how well the faults that a workload activates stand for all faults.",
    .operands = "[-- COMMAND [ARGUMENT]...]",
    .details = "Runs a command whose programs were built with 'ordeal cc --counters', and shows\n"
               "coverage in four units, how often blocks are executed, and for each fault type\n"
               "how many candidates there are and how many of them the command would activate.\n"
               "No fault is injected. With --match-output a campaign can make up for it:\n"
               "\n"
               "  ordeal fidelity --match-output weights -- make check\n"
               "  ordeal campaign --sample 256 --set injector=ir \\\n"
               "      --set selection.weights=weights -- make check\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 0,
    .most = UINT32_MAX,
    .command_follows = true,
    .run = run,
};
