// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of workloads as tables in 80 columns.
#include "cli/faults/fidelity-show.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BAR 40 // columns of the longest bar

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

// ---- coverage ----

static struct error *put_coverage(const struct fidelity_result *result, struct buffer *text)
{
    TRY(buffer_printf(text, "Coverage              executed      total\n"));
    for (int unit = 0; unit < UNITS; unit++)
        TRY(buffer_printf(text, "  %-18s %9" PRIu64 "  %9" PRIu64 "  %5.1f%%\n",
                          fidelity_unit_names[unit], result->coverage[unit].executed,
                          result->coverage[unit].total, fidelity_percent(result->coverage[unit])));
    if (result->runs > 1)
        TRY(buffer_printf(text,
                          "  one run executes %.1f%% of the blocks on average (+-%.1f); the first "
                          "%zu of\n  %zu runs come within 1%% of all\n",
                          result->growth.per_run.mean, result->growth.per_run.deviation,
                          result->growth.enough, result->runs));
    return buffer_printf(text,
                         "A block that is executed has on average %.1f candidates, %.1f lines and "
                         "%.1f\ninstructions; one that is not %.1f, %.1f and %.1f.\n\n",
                         result->executed.candidates, result->executed.lines,
                         result->executed.instructions, result->not_executed.candidates,
                         result->not_executed.lines, result->not_executed.instructions);
}

// ---- executions ----

static struct error *put_range(int decade, struct buffer *text)
{
    if (decade < 3)
        return buffer_printf(text, "%12s", decade == 0 ? "0" : decade == 1 ? "1" : "2-9");
    char range[32];
    snprintf(range, sizeof range, "10^%d-", decade - 2);
    return buffer_printf(text, "%12s", range);
}

static struct error *put_histogram(const struct fidelity_counts *counts, struct buffer *text)
{
    uint64_t most = 1;
    int last = 0;
    for (int i = 0; i < FIDELITY_DECADES; i++) {
        most = counts->histogram[i] > most ? counts->histogram[i] : most;
        last = counts->histogram[i] != 0 ? i : last;
    }
    TRY(buffer_printf(text, "%12s %8s\n", "executed", "blocks"));
    for (int i = 0; i <= last; i++) {
        size_t bar = (size_t)ceil((double)counts->histogram[i] * BAR / (double)most);
        TRY(put_range(i, text));
        TRY(buffer_printf(text, " %8" PRIu64 "%s%.*s\n", counts->histogram[i], bar != 0 ? "  " : "",
                          (int)bar, "########################################"));
    }
    return NULL;
}

static struct error *put_bands(const struct fidelity_result *result, struct buffer *text)
{
    static const char *const names[FIDELITY_BANDS] = {"up to 10%", "up to 25%", "up to 50%",
                                                      "less than all", "all"};
    TRY(buffer_printf(text, "Blocks by the share of runs that execute them:\n"
                            "  runs             blocks  most executions in a run (geometric "
                            "mean)\n"));
    for (int i = 0; i < FIDELITY_BANDS; i++)
        if (result->bands[i].blocks != 0)
            TRY(buffer_printf(text, "  %-13s %9" PRIu64 "  %.4g\n", names[i],
                              result->bands[i].blocks, result->bands[i].most));
    return NULL;
}

static struct error *put_executions(const struct fidelity_result *result, struct buffer *text)
{
    const struct fidelity_counts *counts = &result->counts;
    TRY(buffer_printf(
        text,
        "Executions of a block: median %" PRIu64 ", nine of ten up to %" PRIu64
        ", 99%% up to %" PRIu64 ",\nmost %" PRIu64 "; %s makes %.1f%% of all %.*g executions.\n",
        counts->median, counts->percentile_90, counts->percentile_99, counts->most,
        counts->blocks > 100 ? "one block of a hundred" : "the hottest block",
        100 * counts->top_share, counts->executions < 1e9 ? 9 : 4, counts->executions));
    if (!isnan(counts->tail.exponent)) {
        TRY(buffer_printf(text, "The tail falls with exponent %.3f", counts->tail.exponent));
        if (!isnan(counts->tail.error))
            TRY(buffer_printf(text, " (standard error %.3f)", counts->tail.error));
        TRY(buffer_printf(text, "; 1 is fattest.\n"));
    }
    TRY(put_histogram(counts, text));
    if (result->runs > 1)
        TRY(put_bands(result, text));
    return buffer_append(text, "\n", 1);
}

// ---- fault types ----

static struct error *put_type(const struct fidelity_type *type, const struct fidelity_type *sum,
                              struct buffer *text)
{
    TRY(text_put_fit(text, type->name, 22, NULL));
    size_t size = strlen(type->name);
    TRY(buffer_printf(text, "%*s", size < 22 ? (int)(22 - size) : 0, ""));
    TRY(buffer_printf(text, "%7" PRIu64 "%6.1f%9.1f%7" PRIu64 "%6.1f%7.1f%7.1f", type->input,
                      share((double)type->input, (double)sum->input), type->expected,
                      type->executed, share((double)type->executed, (double)sum->executed),
                      share(type->weight, sum->weight),
                      share(type->activations, sum->activations)));
    if (!isnan(type->correlation.r))
        TRY(buffer_printf(text, " %+.2f%s", type->correlation.r, stats_stars(type->correlation.p)));
    return buffer_append(text, "\n", 1);
}

static struct error *put_types(const struct fidelity_result *result, struct buffer *text)
{
    struct fidelity_type sum = {.name = "all", .correlation.r = NAN};
    for (size_t i = 0; i < result->types.count; i++) {
        const struct fidelity_type *type = &result->types.items[i];
        sum.input += type->input;
        sum.expected += type->expected;
        sum.executed += type->executed;
        sum.weight += type->weight;
        sum.activations += type->activations;
    }
    TRY(buffer_printf(text, "Fault load                    input         executed        "
                            "activations\n"
                            "type                        n     %% expected      n     %%  log %%  "
                            "sum %%  r\n"));
    for (size_t i = 0; i < result->types.count; i++)
        TRY(put_type(&result->types.items[i], &sum, text));
    return put_type(&sum, &sum, text);
}

static struct error *put_distance(const char *name, const struct fidelity_distance *distance,
                                  struct buffer *text)
{
    TRY(buffer_printf(text, "  %-32s %10.1f %4u  ", name, distance->test.statistic,
                      distance->test.freedom));
    if (distance->test.p < 0.0001)
        TRY(buffer_printf(text, "< 0.0001"));
    else
        TRY(buffer_printf(text, "%8.4f", distance->test.p));
    if (isnan(distance->divergence))
        return buffer_printf(text, "         -\n");
    return buffer_printf(text, "  %8.5f\n", distance->divergence);
}

static struct error *put_distances(const struct fidelity_result *result, struct buffer *text)
{
    TRY(buffer_printf(text, "\nDistortion, from input to         chi-square   df         p  "
                            "JS (bits)\n"));
    TRY(put_distance("executed faults", &result->to_executed, text));
    TRY(put_distance("their activations, log scale", &result->to_logarithms, text));
    TRY(put_distance("their activations, as counted", &result->to_counts, text));
    return buffer_printf(text, "  association of type and being executed: V = %.3f\n",
                         result->association);
}

// ---- the match ----

static struct error *put_campaign(const struct fidelity_campaign *campaign, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    TRY(text_put_fit(&name, file_base_name(campaign->path), 16, NULL));
    TRY(buffer_printf(&name, ", %" PRIu64 " of %" PRIu64, campaign->activated, campaign->trials));
    return put_distance(name.data, &campaign->distance, text);
}

static struct error *put_match(const struct fidelity_shown *shown, struct buffer *text)
{
    TRY(buffer_printf(text, "\nActivated faults and the model    chi-square   df         p  "
                            "JS (bits)\n"));
    TRY(put_distance("candidates drawn evenly", &shown->match->before, text));
    TRY(put_distance("drawn by the weights", &shown->match->after, text));
    for (size_t i = 0; i < shown->campaign_count; i++)
        TRY(put_campaign(&shown->campaigns[i], text));
    if (shown->match->lost > 0)
        TRY(buffer_printf(text,
                          "  %.2f%% of the model is in types that this workload never executes:\n",
                          100 * shown->match->lost));
    for (size_t i = 0; i < shown->results->types.count; i++)
        if (shown->match->model.items[i] > 0 && shown->results->types.items[i].drawable == 0) {
            TRY(buffer_printf(text, "    "));
            TRY(text_put_fit(text, shown->results->types.items[i].name, 70, NULL));
            TRY(buffer_append(text, "\n", 1));
        }
    return NULL;
}

// ---- several workloads ----

struct error *fidelity_correlate_units(const struct fidelity_shown *shown,
                                       struct stats_correlation ret_pairs[UNITS][UNITS])
{
    _cleanup_free_ double *percents = calloc(UNITS * shown->count + 1, sizeof *percents);
    if (percents == NULL)
        return error_no_memory();
    for (int unit = 0; unit < UNITS; unit++)
        for (size_t i = 0; i < shown->count; i++)
            percents[(size_t)unit * shown->count + i] =
                fidelity_percent(shown->results[i].coverage[unit]);
    for (size_t a = 0; a < UNITS; a++)
        for (size_t b = 0; b < UNITS; b++)
            ret_pairs[a][b] = stats_correlate(percents + a * shown->count,
                                              percents + b * shown->count, shown->count);
    return NULL;
}

static struct error *put_correlations(const struct fidelity_shown *shown, struct buffer *text)
{
    struct stats_correlation pairs[UNITS][UNITS];
    if (shown->count < 3)
        return NULL;
    TRY(fidelity_correlate_units(shown, pairs));
    if (isnan(pairs[UNIT_CANDIDATES][UNIT_BLOCKS].r))
        return NULL;
    TRY(buffer_printf(text, "Correlation of the coverages of %zu workloads:\n", shown->count));
    for (int a = 0; a < UNITS; a++)
        for (int b = a + 1; b < UNITS; b++)
            if (!isnan(pairs[a][b].r))
                TRY(buffer_printf(text, "  %-16s  %-16s %6.3f%s\n", fidelity_unit_names[a],
                                  fidelity_unit_names[b], pairs[a][b].r,
                                  stats_stars(pairs[a][b].p)));
    return buffer_append(text, "\n", 1);
}

static struct error *put_comparison(const struct fidelity_shown *shown, struct buffer *text)
{
    TRY(buffer_printf(text, "\n%-16s%8s%7s%7s%7s%9s%9s%9s%7s\n", "Workload", "faults", "blocks",
                      "lines", "instr.", "exponent", "JS exec.", "JS log", "V"));
    for (size_t i = 0; i < shown->count; i++) {
        const struct fidelity_result *result = &shown->results[i];
        size_t used = 0;
        TRY(text_put_fit(text, shown->workloads[i].label, 16, &used));
        TRY(buffer_printf(text, "%*s", used < 16 ? (int)(16 - used) : 0, ""));
        TRY(buffer_printf(text, "%7.1f%%%6.1f%%%6.1f%%%6.1f%%",
                          fidelity_percent(result->coverage[UNIT_CANDIDATES]),
                          fidelity_percent(result->coverage[UNIT_BLOCKS]),
                          fidelity_percent(result->coverage[UNIT_LINES]),
                          fidelity_percent(result->coverage[UNIT_INSTRUCTIONS])));
        if (isnan(result->counts.tail.exponent))
            TRY(buffer_printf(text, "        -"));
        else
            TRY(buffer_printf(text, "%9.3f", result->counts.tail.exponent));
        TRY(buffer_printf(text, "%9.5f%9.5f%7.3f\n", result->to_executed.divergence,
                          result->to_logarithms.divergence, result->association));
    }
    TRY(buffer_append(text, "\n", 1));
    return put_correlations(shown, text);
}

// ---- the whole report ----

static struct error *put_head(const struct fidelity_shown *shown, struct buffer *text)
{
    TRY(buffer_printf(text, "Fidelity of "));
    TRY(text_put_fit(text, shown->workloads->label, 60, NULL));
    TRY(buffer_printf(text, shown->results->runs == 1 ? ", 1 run\n" : ", %zu runs\n",
                      shown->results->runs));
    for (size_t i = 0; i < shown->subjects->images.count; i++) {
        TRY(buffer_printf(text, "  "));
        TRY(text_put_path(text, shown->subjects->images.items[i].path, 76));
        TRY(buffer_append(text, "\n", 1));
    }
    return buffer_append(text, "\n", 1);
}

struct error *fidelity_put_text(const struct fidelity_shown *shown, struct buffer *text)
{
    TRY(put_head(shown, text));
    TRY(put_coverage(shown->results, text));
    if (shown->results->counts.blocks != 0)
        TRY(put_executions(shown->results, text));
    TRY(put_types(shown->results, text));
    TRY(put_distances(shown->results, text));
    if (shown->match != NULL)
        TRY(put_match(shown, text));
    return shown->count > 1 ? put_comparison(shown, text) : NULL;
}
