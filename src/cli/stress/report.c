// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in which the system failed are counted, and left out of both measures: their time means
// nothing.
#include "cli/stress/report.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/stress/load-options.h"
#include "report/json.h"
#include "report/text.h"

static uint64_t sum(const uint64_t *values, unsigned count)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all += values[i];
    return all;
}

uint64_t stress_report_faults(const struct stress_result *result)
{
    return sum(result->injected, STRESS_AREAS) - result->missed;
}

static uint64_t errors_of(const struct stress_result *result)
{
    return sum(result->errors, LOAD_ERRORS);
}

static double degradation(const struct stress_result *faulty, const struct stress_result *plain)
{
    return (clock_seconds(faulty->elapsed_ns) / clock_seconds(plain->elapsed_ns) - 1) /
           (double)stress_report_faults(faulty);
}

struct error *stress_totals_add(struct stress_totals *totals, const struct stress_result *faulty,
                                const struct stress_result *plain)
{
    uint64_t faults = stress_report_faults(faulty), errors = errors_of(faulty);
    if (plain->failed)
        return error_new("the load failed without a fault: this machine does not run it");
    totals->runs++;
    totals->errors_without += errors_of(plain);
    if (faulty->failed) {
        totals->failed++;
        return NULL;
    }
    totals->faults += faults;
    totals->errors += errors;
    if (faults != 0) {
        stats_add(&totals->ratio, (double)errors / (double)faults);
        stats_add(&totals->degradation, degradation(faulty, plain));
    }
    return NULL;
}

// ---- Text ----

struct error *stress_report_head(const struct stress_options *stress,
                                 const struct calibration *calibration, struct buffer *text)
{
    TRY(load_options_put(&stress->load, text));
    TRY(buffer_printf(text, "\nstrategy %s, a fault every %g s, threshold %g, seed %llu\n",
                      strategy_names[stress->strategy.kind], stress->strategy.mean_s,
                      stress->strategy.threshold, (unsigned long long)stress->seed));
    return stress_report_scale(calibration, text);
}

struct error *stress_report_scale(const struct calibration *calibration, struct buffer *text)
{
    const struct stress_range *range = &calibration->range;
    return buffer_printf(text,
                         "stress from 0 to 1: processors %.2f to %.2f, %s %.3g to %.3g per second, "
                         "blocks %.3g to %.3g per second (5th to 95th percentile of %zu samples)\n",
                         range->low[0], range->high[0], measure_memory_names[calibration->memory],
                         range->low[1], range->high[1], range->low[2], range->high[2],
                         calibration->samples);
}

struct error *stress_report_injections(const struct stress_result *result, bool copies,
                                       struct buffer *text)
{
    for (size_t i = 0; i < result->injections.count; i++) {
        const struct stress_injection *injection = &result->injections.items[i];
        TRY(buffer_printf(text, "  %8.3f s  %-3s  ", clock_seconds(injection->at_ns),
                          stress_area_names[injection->area]));
        if (copies)
            TRY(buffer_printf(text, "process %u copy %u  ", injection->member, injection->copy));
        TRY(buffer_printf(text, "stress %.2f/%.2f/%.2f  ", injection->stress[0],
                          injection->stress[1], injection->stress[2]));
        TRY(text_put(text, injection->text, SIZE_MAX, 0)); // it names a process
        TRY(buffer_append(text, "\n", 1));
    }
    return NULL;
}

struct error *stress_report_run_text(uint64_t number, const struct stress_result *faulty,
                                     const struct stress_result *plain, bool list,
                                     struct buffer *text)
{
    TRY(buffer_printf(
        text,
        "run %llu: %llu faults (cpu %llu, mem %llu, io %llu), %llu errors (%llu "
        "differ, %llu died, %llu hung), %llu repaired, ",
        (unsigned long long)number + 1, (unsigned long long)stress_report_faults(faulty),
        (unsigned long long)faulty->injected[STRESS_CPU],
        (unsigned long long)faulty->injected[STRESS_MEM],
        (unsigned long long)faulty->injected[STRESS_IO], (unsigned long long)errors_of(faulty),
        (unsigned long long)faulty->errors[LOAD_DIFFERS],
        (unsigned long long)faulty->errors[LOAD_DIED],
        (unsigned long long)faulty->errors[LOAD_HUNG], (unsigned long long)faulty->repaired));
    TRY(faulty->failed
            ? buffer_printf(text, "then failed after %.3f s\n", clock_seconds(faulty->elapsed_ns))
            : buffer_printf(text, "%.3f s, without faults %.3f s\n",
                            clock_seconds(faulty->elapsed_ns), clock_seconds(plain->elapsed_ns)));
    if (!faulty->failed && faulty->sum != plain->sum)
        TRY(buffer_printf(text, "  the result is wrong, and nothing noticed it\n"));
    if (faulty->missed != 0)
        TRY(buffer_printf(
            text, "  %llu more faults found no process: it had ended, or did not stop in time\n",
            (unsigned long long)faulty->missed));
    return list ? stress_report_injections(faulty, true, text) : NULL;
}

struct error *stress_report_mean(const struct stats_moments *moments, struct buffer *text)
{
    struct stats_interval interval = stats_mean_interval(moments, STATS_CONFIDENCE);
    TRY(buffer_printf(text, "%.4g", moments->mean));
    return moments->n > 1 ? buffer_printf(text, " [%.4g, %.4g]", interval.low, interval.high)
                          : buffer_printf(text, " (one run: no interval)");
}

struct error *stress_report_totals_text(const struct stress_totals *totals, struct buffer *text)
{
    TRY(buffer_printf(text, "%llu runs, %llu failed; %llu faults, %llu errors\n",
                      (unsigned long long)totals->runs, (unsigned long long)totals->failed,
                      (unsigned long long)totals->faults, (unsigned long long)totals->errors));
    if (totals->errors_without != 0)
        TRY(buffer_printf(text, "%llu errors without a fault: the others may not be of faults\n",
                          (unsigned long long)totals->errors_without));
    if (totals->ratio.n == 0)
        return buffer_printf(text, "no run had a fault: make it longer, or --mean shorter\n");
    TRY(buffer_printf(text, "errors per fault "));
    TRY(stress_report_mean(&totals->ratio, text));
    TRY(buffer_printf(text, "\nperformance degradation per fault "));
    TRY(stress_report_mean(&totals->degradation, text));
    return buffer_printf(text, "\n");
}

// ---- JSON ----

static void add_result(struct json_builder *builder, json_t *parent, const char *key,
                       const struct stress_result *result)
{
    json_t *row = json_add_object(builder, parent, key);
    json_t *injected = json_add_object(builder, row, "injected");
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_integer(builder, injected, stress_area_names[i], result->injected[i]);
    json_add_integer(builder, row, "missed", result->missed);
    json_add_integer(builder, row, "pending", result->pending);
    json_t *errors = json_add_object(builder, row, "errors");
    for (unsigned i = 0; i < LOAD_ERRORS; i++)
        json_add_integer(builder, errors, load_error_names[i], result->errors[i]);
    json_add_integer(builder, row, "repaired", result->repaired);
    json_add_bool(builder, row, "failed", result->failed);
    json_add_integer(builder, row, "functions", result->functions);
    json_add_real(builder, row, "seconds", clock_seconds(result->elapsed_ns));
    json_add_format(builder, row, "sum", "%016llx", (unsigned long long)result->sum);
    json_add_integer(builder, row, "samples", result->samples);
    json_add_real(builder, row, "composite", result->composite);
    json_add_real(builder, row, "measuring_seconds", clock_seconds(result->measuring_ns));
}

static void add_injection(struct json_builder *builder, json_t *list,
                          const struct stress_injection *injection, bool copies)
{
    json_t *row = json_add_object(builder, list, NULL);
    json_add_real(builder, row, "seconds", clock_seconds(injection->at_ns));
    json_add_string(builder, row, "area", stress_area_names[injection->area]);
    if (copies) {
        json_add_integer(builder, row, "process", injection->member);
        json_add_integer(builder, row, "copy", injection->copy);
    }
    json_t *stress = json_add_object(builder, row, "stress");
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_real(builder, stress, stress_area_names[i], injection->stress[i]);
    json_add_real(builder, row, "composite", injection->composite);
    json_add_string(builder, row, "fault", injection->text);
}

void stress_report_add_injections(struct json_builder *builder, json_t *root,
                                  const struct stress_result *result, bool copies)
{
    json_t *list = json_add_array(builder, root, "faults");
    for (size_t i = 0; i < result->injections.count; i++)
        add_injection(builder, list, &result->injections.items[i], copies);
}

static void add_noticed(struct json_builder *builder, json_t *list,
                        const struct load_noticed *noticed)
{
    json_t *row = json_add_object(builder, list, NULL);
    json_add_real(builder, row, "seconds", clock_seconds(noticed->at_ns));
    json_add_integer(builder, row, "process", noticed->member);
    json_add_integer(builder, row, "copy", noticed->copy);
    json_add_string(builder, row, "error", load_error_names[noticed->error]);
}

struct error *stress_report_run_json(const struct stress_options *stress,
                                     const struct stress_result *faulty,
                                     const struct stress_result *plain, struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_integer(&builder, root, "seed", stress->seed);
    json_add_string(&builder, root, "strategy", strategy_names[stress->strategy.kind]);
    add_result(&builder, root, "with_faults", faulty);
    add_result(&builder, root, "without", plain);
    stress_report_add_injections(&builder, root, faulty, true);
    json_t *list = json_add_array(&builder, root, "noticed");
    for (size_t i = 0; i < faulty->noticed.count; i++)
        add_noticed(&builder, list, &faulty->noticed.items[i]);
    return json_write_line(&builder, root, text);
}

void stress_report_add_mean(struct json_builder *builder, json_t *root, const char *key,
                            const struct stats_moments *moments)
{
    json_t *row = json_add_object(builder, root, key);
    json_add_integer(builder, row, "n", moments->n);
    if (moments->n == 0)
        return;
    json_add_real(builder, row, "mean", moments->mean);
    if (moments->n < 2)
        return;
    struct stats_interval interval = stats_mean_interval(moments, STATS_CONFIDENCE);
    json_add_real(builder, row, "low", interval.low);
    json_add_real(builder, row, "high", interval.high);
}

struct error *stress_report_totals_json(const struct stress_options *stress,
                                        const struct stress_totals *totals, struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_string(&builder, root, "strategy", strategy_names[stress->strategy.kind]);
    json_add_integer(&builder, root, "runs", totals->runs);
    json_add_integer(&builder, root, "failed", totals->failed);
    json_add_integer(&builder, root, "faults", totals->faults);
    json_add_integer(&builder, root, "errors", totals->errors);
    json_add_integer(&builder, root, "errors_without_faults", totals->errors_without);
    stress_report_add_mean(&builder, root, "errors_per_fault", &totals->ratio);
    stress_report_add_mean(&builder, root, "degradation", &totals->degradation);
    return json_write_line(&builder, root, text);
}
