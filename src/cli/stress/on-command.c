// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs without a fault say what the command does and what is a lot; then come pairs of a run
// with faults and one with null faults.
#include "cli/stress/on-command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/stress/report.h"
#include "stress/command.h"

#include <unistd.h>

#define REFERENCES    2
#define TIMEOUT_LEAST (5 * NS_PER_S)

struct totals {
    uint64_t runs, unstable; // unstable: null faults changed what it does, so nothing is known
    uint64_t with_faults, ends[COMMAND_ENDS], faults; // of those that are not
    struct stats_moments ratio, degradation;
};

struct pair {
    struct stress_result faulty, plain;
    struct command_run run, null;
    enum command_end end, null_end;
};

static void pair_deinit(struct pair *pair)
{
    stress_result_deinit(&pair->faulty);
    stress_result_deinit(&pair->plain);
    command_run_deinit(&pair->run);
    command_run_deinit(&pair->null);
}

static void count(struct totals *totals, const struct pair *pair)
{
    uint64_t faults = stress_report_faults(&pair->faulty);
    bool noticed = pair->end != COMMAND_AS_BEFORE && pair->end != COMMAND_WRONG;
    totals->runs++;
    if (pair->null_end != COMMAND_AS_BEFORE) {
        totals->unstable++;
        return;
    }
    totals->faults += faults;
    if (faults == 0)
        return;
    totals->with_faults++;
    totals->ends[pair->end]++;
    stats_add(&totals->ratio, (noticed ? 1.0 : 0.0) / (double)faults);
    if (pair->end == COMMAND_AS_BEFORE || pair->end == COMMAND_WRONG)
        stats_add(&totals->degradation,
                  (clock_seconds(pair->run.ns) / clock_seconds(pair->null.ns) - 1) /
                      (double)faults);
}

// ---- Text ----

static struct error *put_end(const struct pair *pair, struct buffer *text)
{
    switch (pair->end) {
    case COMMAND_KILLED:
        return buffer_printf(text, "killed by signal %d", pair->run.status);
    case COMMAND_HUNG:
        return buffer_printf(text, "did not end");
    case COMMAND_REPORTED:
        return buffer_printf(text, "exit status %d, and an error was reported", pair->run.status);
    case COMMAND_WRONG:
        return buffer_printf(text, "the result is wrong, and nothing noticed it");
    case COMMAND_AS_BEFORE:
    case COMMAND_ENDS:
        break;
    }
    return buffer_printf(text, "as without faults");
}

static struct error *put_pair(uint64_t number, const struct pair *pair, bool list,
                              struct buffer *text)
{
    const uint64_t *injected = pair->faulty.injected;
    TRY(buffer_printf(
        text, "run %llu: %llu faults (cpu %llu, mem %llu, io %llu): ",
        (unsigned long long)number + 1, (unsigned long long)stress_report_faults(&pair->faulty),
        (unsigned long long)injected[STRESS_CPU], (unsigned long long)injected[STRESS_MEM],
        (unsigned long long)injected[STRESS_IO]));
    TRY(put_end(pair, text));
    TRY(buffer_printf(text, ", %.3f s, with null faults %.3f s\n", clock_seconds(pair->run.ns),
                      clock_seconds(pair->null.ns)));
    if (pair->null_end != COMMAND_AS_BEFORE)
        TRY(buffer_printf(text, "  with null faults it did not do what it did before: not "
                                "counted\n"));
    if (pair->faulty.missed != 0)
        TRY(buffer_printf(text, "  %llu more faults found no process or no memory of it\n",
                          (unsigned long long)pair->faulty.missed));
    if (pair->faulty.pending != 0)
        TRY(buffer_printf(text, "  %llu of the faults waited for a call about a file\n",
                          (unsigned long long)pair->faulty.pending));
    return list ? stress_report_injections(&pair->faulty, false, text) : NULL;
}

static struct error *put_totals(const struct totals *totals, struct buffer *text)
{
    TRY(buffer_printf(text, "%llu runs, %llu not counted; %llu faults; %llu runs with faults:",
                      (unsigned long long)totals->runs, (unsigned long long)totals->unstable,
                      (unsigned long long)totals->faults, (unsigned long long)totals->with_faults));
    for (unsigned i = 0; i < COMMAND_ENDS; i++)
        TRY(buffer_printf(text, "%s %llu %s", i != 0 ? "," : "",
                          (unsigned long long)totals->ends[i], command_end_names[i]));
    TRY(buffer_printf(text, "\n"));
    if (totals->with_faults == 0)
        return buffer_printf(text, "no run had a fault: make --mean shorter\n");
    TRY(buffer_printf(text, "errors noticed per fault "));
    TRY(stress_report_mean(&totals->ratio, text));
    if (totals->degradation.n == 0)
        return buffer_printf(text, "\n");
    TRY(buffer_printf(text, "\nperformance degradation per fault "));
    TRY(stress_report_mean(&totals->degradation, text));
    return buffer_printf(text, "\n");
}

// ---- JSON ----

static void add_run(struct json_builder *builder, json_t *root, const char *key,
                    enum command_end end, const struct command_run *run,
                    const struct stress_result *result)
{
    json_t *row = json_add_object(builder, root, key);
    json_add_string(builder, row, "end", command_end_names[end]);
    json_add_integer(builder, row, "status", run->status);
    json_add_real(builder, row, "seconds", clock_seconds(run->ns));
    json_t *injected = json_add_object(builder, row, "injected");
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_integer(builder, injected, stress_area_names[i], result->injected[i]);
    json_add_integer(builder, row, "missed", result->missed);
    json_add_integer(builder, row, "pending", result->pending);
    json_add_integer(builder, row, "samples", result->samples);
    json_add_real(builder, row, "measuring_seconds", clock_seconds(result->measuring_ns));
}

static struct error *put_pair_json(const struct stress_options *stress, const struct pair *pair,
                                   struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_integer(&builder, root, "seed", stress->seed);
    json_add_string(&builder, root, "strategy", strategy_names[stress->strategy.kind]);
    add_run(&builder, root, "with_faults", pair->end, &pair->run, &pair->faulty);
    add_run(&builder, root, "without", pair->null_end, &pair->null, &pair->plain);
    stress_report_add_injections(&builder, root, &pair->faulty, false);
    return json_write_line(&builder, root, text);
}

static struct error *put_totals_json(const struct totals *totals, struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_integer(&builder, root, "runs", totals->runs);
    json_add_integer(&builder, root, "not_counted", totals->unstable);
    json_add_integer(&builder, root, "faults", totals->faults);
    json_add_integer(&builder, root, "runs_with_faults", totals->with_faults);
    json_t *ends = json_add_object(&builder, root, "ends");
    for (unsigned i = 0; i < COMMAND_ENDS; i++)
        json_add_integer(&builder, ends, command_end_names[i], totals->ends[i]);
    stress_report_add_mean(&builder, root, "errors_per_fault", &totals->ratio);
    stress_report_add_mean(&builder, root, "degradation", &totals->degradation);
    return json_write_line(&builder, root, text);
}

// ---- Runs ----

static struct error *put_head(const struct on_command_options *options,
                              const struct stress_options *stress,
                              const struct calibration *calibration, const struct sandbox *sandbox,
                              struct buffer *text)
{
    for (size_t i = 0; i < sandbox_warning_count(sandbox); i++)
        TRY(buffer_printf(text, "%s\n", sandbox_warning(sandbox, i)));
    TRY(buffer_printf(text, "strategy %s, a fault every %g s, threshold %g, seed %llu\n",
                      strategy_names[stress->strategy.kind], stress->strategy.mean_s,
                      stress->strategy.threshold, (unsigned long long)options->stress.seed));
    return stress_report_scale(calibration, text);
}

static struct error *run_pair(const struct on_command_options *options,
                              const struct stress_command *command,
                              const struct stress_options *all, const struct command_run *reference,
                              uint64_t number, struct totals *totals)
{
    _cleanup_(pair_deinit) struct pair pair = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct stress_options stress = *all;
    stress.seed += number;
    TRY(command_run_faulty(command, &stress, false, &pair.faulty, &pair.run));
    TRY(command_run_faulty(command, &stress, true, &pair.plain, &pair.null));
    pair.end = command_compare(&pair.run, reference);
    pair.null_end = command_compare(&pair.null, reference);
    count(totals, &pair);
    TRY(options->json ? put_pair_json(&stress, &pair, &text)
                      : put_pair(number, &pair, options->list, &text));
    return output_print(&text);
}

static struct error *run_all(const struct on_command_options *options,
                             struct stress_command *command, struct command_run *reference,
                             struct totals *totals)
{
    _cleanup_(buffer_deinit) struct buffer head = {0}, end = {0};
    struct stress_options stress = options->stress;
    struct calibration calibration = {0};
    TRY(command_calibrate(command, &stress, REFERENCES, &stress.range, &stress.memory,
                          &calibration.samples, reference));
    calibration.range = stress.range;
    calibration.memory = stress.memory;
    if (command->timeout_ns == 0)
        command->timeout_ns = 10 * reference->ns + TIMEOUT_LEAST;
    if (!options->json) {
        TRY(put_head(options, &stress, &calibration, command->sandbox, &head));
        TRY(output_print(&head));
    }
    for (uint64_t i = 0; i < options->runs; i++)
        TRY(run_pair(options, command, &stress, reference, i, totals));
    TRY(options->json ? put_totals_json(totals, &end) : put_totals(totals, &end));
    return output_print(&end);
}

struct error *on_command(const struct on_command_options *options, char *const *command,
                         bool *ret_failed)
{
    _cleanup_free_ char *here = getcwd(NULL, 0);
    _cleanup_(command_run_deinit) struct command_run reference = {0};
    struct totals totals = {0};
    const struct sandbox_options wanted = {.kind = options->sandbox, .directory = here};
    struct stress_command on = {
        .words = command, .environment = environ, .timeout_ns = options->timeout_ns};
    if (here == NULL)
        return error_new("the working directory is gone");
    TRY(sandbox_new(&wanted, &on.sandbox));
    struct error *error = run_all(options, &on, &reference, &totals);
    sandbox_free(on.sandbox);
    *ret_failed =
        totals.ends[COMMAND_KILLED] + totals.ends[COMMAND_HUNG] + totals.ends[COMMAND_WRONG] != 0;
    return error;
}
