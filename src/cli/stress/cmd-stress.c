// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal stress: runs a load in copies that a voter compares, injects faults where and when the
// load is, and tells how many of them were noticed, and what that cost.
#include "cli/registry.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/stress/calibration.h"
#include "cli/stress/load-options.h"
#include "cli/stress/on-command.h"
#include "cli/stress/report.h"

#include <string.h>

#define STATUS_FAILED 1
#define MEAN_NS       (5 * NS_PER_S)
#define CALIBRATE_NS  (5 * NS_PER_S)

struct settings {
    struct load_settings load;
    const char *strategy, *weights, *threshold, *model, *calibration, *sandbox;
    struct option_list areas;
    struct option_number runs;
    uint64_t mean_ns, calibrate_ns, timeout_ns;
    bool list, json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"strategy", 's', OPTION_TEXT, "NAME",
     "when and where faults are injected: r, l, t, lt or ltlow; lt if it is not given",
     FIELD(strategy)},
    {"runs", 0, OPTION_NUMBER, "N",
     "pairs of a run with faults and one with null faults; 1 if it is not given", FIELD(runs)},
    {"mean", 0, OPTION_SECONDS, "TIME",
     "from one fault that falls due to the next, on average; 5s if it is not given",
     FIELD(mean_ns)},
    {"area", 'a', OPTION_LIST, "AREA",
     "inject into this area only: cpu, mem or io; may be given again", FIELD(areas)},
    {"model", 0, OPTION_TEXT, "NAME",
     "what becomes of a register or a byte: flip, flips, zero, set, or any; flip if it is not "
     "given",
     FIELD(model)},
    {"threshold", 0, OPTION_TEXT, "NUMBER",
     "of the composite stress, from 0 to 1; 0.5 if it is not given", FIELD(threshold)},
    {"weights", 0, OPTION_TEXT, "CPU/MEM/IO",
     "of the areas in the composite stress; 1/1/1 if it is not given", FIELD(weights)},
    {"calibration", 0, OPTION_FILE, "FILE",
     "what is a lot of each area: read from this file, or measured and written to it",
     FIELD(calibration)},
    {"calibrate", 0, OPTION_SECONDS, "TIME",
     "how long each of the four loads of the calibration runs; 5s if it is not given",
     FIELD(calibrate_ns)},
    LOAD_OPTIONS(struct settings, load),
    {"copies", 'c', OPTION_NUMBER, "N",
     "copies of each process, which are compared after each function; 3 if it is not given",
     FIELD(load.copies)},
    {"sandbox", 0, OPTION_TEXT, "KIND", "of a command: " SANDBOX_KINDS "; auto if it is not given",
     FIELD(sandbox)},
    {"timeout", 0, OPTION_SECONDS, "TIME",
     "then a command counts as hung; ten times what it takes, and 5 s, if it is not given",
     FIELD(timeout_ns)},
    {"list", 0, OPTION_FLAG, NULL, "list all faults", FIELD(list)},
    {"json", 0, OPTION_FLAG, NULL, "print JSON: a line for each run, and one for all", FIELD(json)},
};

// ---- Options ----

static struct error *find_name(const char *const *names, unsigned count, const char *alternatives,
                               const char *word, unsigned *ret_index)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) {
            *ret_index = i;
            return NULL;
        }
    return choice_error(alternatives, word, strlen(word));
}

static struct error *read_strategy(const struct settings *settings, struct strategy *ret_strategy)
{
    struct strategy strategy = {.kind = STRATEGY_LT, .weights = {1, 1, 1}, .threshold = 0.5};
    unsigned index = 0;
    if (settings->strategy != NULL) {
        TRY(find_name(strategy_names, STRATEGY_KINDS, "r|l|t|lt|ltlow", settings->strategy,
                      &index));
        strategy.kind = (enum strategy_kind)index;
    }
    for (size_t i = 0; i < settings->areas.entries.count; i++) {
        TRY(find_name(stress_area_names, STRESS_AREAS, "cpu|mem|io",
                      settings->areas.entries.items[i].value, &index));
        strategy.areas[index] = true;
    }
    if (settings->areas.entries.count == 0)
        strategy.areas[0] = strategy.areas[1] = strategy.areas[2] = true;
    if (settings->weights != NULL)
        TRY(load_options_three("weights", settings->weights, strategy.weights));
    if (settings->threshold != NULL) {
        char *end;
        strategy.threshold = strtod(settings->threshold, &end);
        if (end == settings->threshold || *end != '\0' ||
            !(strategy.threshold >= 0 && strategy.threshold <= 1))
            return error_new("--threshold takes a number from 0 to 1, not '%s'",
                             settings->threshold);
    }
    strategy.mean_s = clock_seconds(settings->mean_ns != 0 ? settings->mean_ns : MEAN_NS);
    *ret_strategy = strategy;
    return NULL;
}

static struct error *read_model(const char *word, enum fault_model *ret_model)
{
    unsigned index = FAULT_FLIP;
    if (word != NULL && strcmp(word, "any") == 0)
        index = FAULT_MODELS;
    else if (word != NULL)
        TRY(find_name(fault_model_names, FAULT_MODELS, "flip|flips|zero|set|any", word, &index));
    *ret_model = (enum fault_model)index;
    return NULL;
}

// ---- Runs ----

static struct error *calibrate(const struct settings *settings, struct stress_options *stress,
                               struct calibration *ret_calibration)
{
    bool there = false;
    if (settings->calibration != NULL)
        TRY(calibration_read(settings->calibration, &stress->load, &there, ret_calibration));
    if (!there) {
        uint64_t time_ns = settings->calibrate_ns != 0 ? settings->calibrate_ns : CALIBRATE_NS;
        TRY(stress_calibrate(&stress->load, time_ns, stress->stop, &ret_calibration->range,
                             ret_calibration->units, &ret_calibration->memory,
                             &ret_calibration->samples));
        if (settings->calibration != NULL)
            TRY(calibration_write(settings->calibration, &stress->load, ret_calibration));
    }
    stress->range = ret_calibration->range;
    stress->memory = ret_calibration->memory;
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        if (stress->load.units[i] == 0)
            stress->load.units[i] = ret_calibration->units[i];
    return NULL;
}

// Each pair has a seed of its own, made from that of all.
static struct error *run_pair(const struct settings *settings, const struct stress_options *all,
                              uint64_t number, struct stress_totals *totals)
{
    _cleanup_(stress_result_deinit) struct stress_result faulty = {0}, plain = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct stress_options stress = *all;
    stress.seed = stress.load.seed = all->seed + number;
    TRY(stress_run(&stress, false, &faulty));
    TRY(stress_run(&stress, true, &plain));
    TRY(stress_totals_add(totals, &faulty, &plain));
    TRY(settings->json ? stress_report_run_json(&stress, &faulty, &plain, &text)
                       : stress_report_run_text(number, &faulty, &plain, settings->list, &text));
    return output_print(&text);
}

static struct error *run_load(const struct settings *settings, uint64_t runs,
                              struct stress_options *stress, bool *ret_failed)
{
    _cleanup_(buffer_deinit) struct buffer head = {0}, end = {0};
    struct calibration calibration = {0};
    struct stress_totals totals = {0};
    if (settings->sandbox != NULL || settings->timeout_ns != 0)
        return error_new("--sandbox and --timeout are for a command, and there is none");
    TRY(calibrate(settings, stress, &calibration));
    if (!settings->json) {
        TRY(stress_report_head(stress, &calibration, &head));
        TRY(output_print(&head));
    }
    for (uint64_t i = 0; i < runs; i++)
        TRY(run_pair(settings, stress, i, &totals));
    TRY(settings->json ? stress_report_totals_json(stress, &totals, &end)
                       : stress_report_totals_text(&totals, &end));
    *ret_failed = totals.failed != 0;
    return output_print(&end);
}

// Options that say what the load is.
static struct error *check_no_load(const struct settings *settings)
{
    const struct load_settings *load = &settings->load;
    const struct {
        const char *name;
        bool given;
    } options_of_load[] = {
        {"mix", load->mix != NULL},
        {"intensity", load->intensity != NULL},
        {"kept", load->kept != NULL},
        {"directory", load->directory != NULL},
        {"units", load->units != NULL},
        {"processes", load->members.given},
        {"copies", load->copies.given},
        {"functions", load->functions.given},
        {"memory", load->megabytes.given},
        {"function-time", load->function_ns != 0},
        {"duration", load->duration_ns != 0},
        {"calibration", settings->calibration != NULL},
        {"calibrate", settings->calibrate_ns != 0},
    };
    for (size_t i = 0; i < sizeof options_of_load / sizeof *options_of_load; i++)
        if (options_of_load[i].given)
            return error_new("--%s is about the load of ordeal load, and a command is given",
                             options_of_load[i].name);
    return NULL;
}

static struct error *run_command(const struct settings *settings, uint64_t runs,
                                 const struct stress_options *stress, char *const *command,
                                 bool *ret_failed)
{
    struct on_command_options how = {.stress = *stress,
                                     .runs = runs,
                                     .timeout_ns = settings->timeout_ns,
                                     .list = settings->list,
                                     .json = settings->json};
    int kind = SANDBOX_AUTO;
    TRY(check_no_load(settings));
    struct error *error =
        settings->sandbox == NULL
            ? NULL
            : choice_parse(SANDBOX_KINDS, settings->sandbox, strlen(settings->sandbox), &kind);
    if (error != NULL)
        return error_prefix(error, "--sandbox");
    how.sandbox = (enum sandbox_kind)kind;
    return on_command(&how, command, ret_failed);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_close_ int signals = -1;
    struct stress_options stress = {0};
    uint64_t runs = settings->runs.given ? settings->runs.value : 1;
    bool failed = false;
    if (runs == 0)
        return error_new("--runs takes a number from 1 on");
    TRY(load_options_read(&settings->load, 3, &stress.load));
    TRY(read_strategy(settings, &stress.strategy));
    TRY(read_model(settings->model, &stress.model));
    stress.seed = stress.load.seed;
    TRY(load_options_signals(&signals));
    stress.stop = signals;
    TRY(fault_check());
    TRY(*operands == NULL ? run_load(settings, runs, &stress, &failed)
                          : run_command(settings, runs, &stress, operands, &failed));
    *ret_status = failed ? STATUS_FAILED : 0;
    return NULL;
}

const struct command cmd_stress = {
    .name = "stress",
    .summary = "Inject faults where and when the load is, and see how many are noticed.",
    .operands = "[[--] COMMAND [ARGUMENT]...]",
    .details =
        "A load (ordeal load) runs in three copies, which a voter compares. Faults in registers,\n"
        "memory and calls about files are injected into the copies. Each run is repeated with\n"
        "faults that change nothing. With a command, that runs in a sandbox in place of the load,\n"
        "and its exit status, its complaints and its results tell what is noticed.\n"
        "\n"
        "  ordeal stress --mix 20/20/60 --strategy lt --duration 1m --runs 5\n"
        "  ordeal stress --strategy r --area cpu --area mem --list\n"
        "  ordeal stress --mean 1s --runs 20 -- ./import data\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .command_follows = true,
    .run = run,
};
