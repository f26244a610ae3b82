// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of workloads as JSON.
#include "cli/faults/fidelity-show.h"
#include "report/json.h"

#include <math.h>

// JSON cannot express NAN: a value that is not known is left out.
static void add_real(struct json_builder *builder, json_t *parent, const char *key, double value)
{
    if (isfinite(value))
        json_add_real(builder, parent, key, value);
}

static void add_coverage(struct json_builder *builder, json_t *parent,
                         const struct fidelity_result *result)
{
    static const char *const keys[UNITS] = {"candidates", "blocks", "lines", "instructions"};
    json_t *list = json_add_object(builder, parent, "coverage");
    for (int unit = 0; unit < UNITS; unit++) {
        json_t *one = json_add_object(builder, list, keys[unit]);
        json_add_integer(builder, one, "executed", result->coverage[unit].executed);
        json_add_integer(builder, one, "total", result->coverage[unit].total);
        json_add_real(builder, one, "percent", fidelity_percent(result->coverage[unit]));
    }
    const struct fidelity_size *const sizes[] = {&result->executed, &result->not_executed};
    for (int i = 0; i < 2; i++) {
        json_t *one = json_add_object(builder, parent, i == 0 ? "executed_block" : "other_block");
        json_add_real(builder, one, "candidates", sizes[i]->candidates);
        json_add_real(builder, one, "lines", sizes[i]->lines);
        json_add_real(builder, one, "instructions", sizes[i]->instructions);
    }
}

static void add_executions(struct json_builder *builder, json_t *parent,
                           const struct fidelity_counts *counts)
{
    json_t *one = json_add_object(builder, parent, "executions");
    json_add_integer(builder, one, "blocks", counts->blocks);
    json_add_integer(builder, one, "median", counts->median);
    json_add_integer(builder, one, "percentile_90", counts->percentile_90);
    json_add_integer(builder, one, "percentile_99", counts->percentile_99);
    json_add_integer(builder, one, "most", counts->most);
    add_real(builder, one, "sum", counts->executions);
    add_real(builder, one, "top_percent_share", counts->top_share);
    add_real(builder, one, "exponent", counts->tail.exponent);
    add_real(builder, one, "exponent_error", counts->tail.error);
    json_t *list = json_add_array(builder, one, "decades"); // 0, 1, 2-9, 10-99, ...
    for (int i = 0; i < FIDELITY_DECADES; i++)
        json_add_integer(builder, list, NULL, counts->histogram[i]);
}

static void add_runs(struct json_builder *builder, json_t *parent,
                     const struct fidelity_result *result)
{
    json_add_integer(builder, parent, "runs", result->runs);
    if (result->runs < 2)
        return;
    json_t *one = json_add_object(builder, parent, "growth");
    json_add_integer(builder, one, "enough", result->growth.enough);
    add_real(builder, one, "blocks_percent_mean", result->growth.per_run.mean);
    add_real(builder, one, "blocks_percent_deviation", result->growth.per_run.deviation);
    json_t *list = json_add_array(builder, parent, "blocks_by_share_of_runs");
    for (int i = 0; i < FIDELITY_BANDS; i++) {
        json_t *band = json_add_object(builder, list, NULL);
        add_real(builder, band, "up_to", result->bands[i].up_to);
        json_add_integer(builder, band, "blocks", result->bands[i].blocks);
        add_real(builder, band, "most_executions", result->bands[i].most);
    }
}

static void add_types(struct json_builder *builder, json_t *parent,
                      const struct fidelity_shown *shown, size_t workload)
{
    const struct fidelity_result *result = &shown->results[workload];
    json_t *list = json_add_array(builder, parent, "types");
    for (size_t i = 0; i < result->types.count; i++) {
        const struct fidelity_type *type = &result->types.items[i];
        json_t *row = json_add_object(builder, list, NULL);
        json_add_string(builder, row, "type", type->name);
        json_add_integer(builder, row, "input", type->input);
        json_add_integer(builder, row, "executed", type->executed);
        add_real(builder, row, "expected", type->expected);
        add_real(builder, row, "activations", type->activations);
        add_real(builder, row, "activations_log", type->weight);
        add_real(builder, row, "share_in_executed_blocks", type->covered);
        add_real(builder, row, "share_in_other_blocks", type->uncovered);
        add_real(builder, row, "correlation", type->correlation.r);
        add_real(builder, row, "correlation_p", type->correlation.p);
        if (shown->match != NULL && workload == 0) {
            add_real(builder, row, "model", shown->match->model.items[i]);
            add_real(builder, row, "weight", shown->match->weights.items[i]);
        }
    }
}

static void add_distance(struct json_builder *builder, json_t *parent, const char *key,
                         const struct fidelity_distance *distance)
{
    json_t *one = json_add_object(builder, parent, key);
    json_add_string(builder, one, "method", stats_method_name(distance->test.method));
    add_real(builder, one, "chi_square", distance->test.statistic);
    json_add_integer(builder, one, "freedom", distance->test.freedom);
    add_real(builder, one, "p", distance->test.p);
    add_real(builder, one, "jensen_shannon", distance->divergence);
}

static void add_workload(struct json_builder *builder, json_t *list,
                         const struct fidelity_shown *shown, size_t number)
{
    const struct fidelity_result *result = &shown->results[number];
    json_t *row = json_add_object(builder, list, NULL);
    json_add_string(builder, row, "label", shown->workloads[number].label);
    const struct fidelity_subject *subject = &shown->subjects[number];
    json_t *binaries = json_add_array(builder, row, "binaries");
    for (size_t i = 0; i < subject->images.count; i++)
        json_add_string(builder, binaries, NULL, subject->images.items[i].path);
    add_runs(builder, row, result);
    add_coverage(builder, row, result);
    add_executions(builder, row, &result->counts);
    add_types(builder, row, shown, number);
    json_t *distortion = json_add_object(builder, row, "distortion");
    add_distance(builder, distortion, "executed", &result->to_executed);
    add_distance(builder, distortion, "activations_log", &result->to_logarithms);
    add_distance(builder, distortion, "activations", &result->to_counts);
    add_real(builder, distortion, "cramers_v", result->association);
    if (shown->match == NULL || number != 0)
        return;
    json_t *match = json_add_object(builder, row, "match");
    add_real(builder, match, "lost", shown->match->lost);
    add_distance(builder, match, "before", &shown->match->before);
    add_distance(builder, match, "after", &shown->match->after);
}

static void add_campaigns(struct json_builder *builder, json_t *root,
                          const struct fidelity_shown *shown)
{
    json_t *list = json_add_array(builder, root, "campaigns");
    for (size_t i = 0; i < shown->campaign_count; i++) {
        json_t *row = json_add_object(builder, list, NULL);
        json_add_string(builder, row, "store", shown->campaigns[i].path);
        json_add_integer(builder, row, "trials", shown->campaigns[i].trials);
        json_add_integer(builder, row, "activated", shown->campaigns[i].activated);
        add_distance(builder, row, "distortion", &shown->campaigns[i].distance);
    }
}

static void add_correlations(struct json_builder *builder, json_t *root,
                             const struct stats_correlation pairs[UNITS][UNITS])
{
    json_t *list = json_add_array(builder, root, "coverage_correlations");
    for (int a = 0; a < UNITS; a++)
        for (int b = a + 1; b < UNITS; b++) {
            json_t *row = json_add_object(builder, list, NULL);
            json_add_string(builder, row, "first", fidelity_unit_names[a]);
            json_add_string(builder, row, "second", fidelity_unit_names[b]);
            add_real(builder, row, "r", pairs[a][b].r);
            add_real(builder, row, "p", pairs[a][b].p);
        }
}

struct error *fidelity_put_json(const struct fidelity_shown *shown, struct buffer *text)
{
    struct json_builder builder = {0};
    struct stats_correlation pairs[UNITS][UNITS];
    struct error *error = fidelity_correlate_units(shown, pairs);
    if (error != NULL)
        return error;
    __attribute__((cleanup(json_release))) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_t *list = json_add_array(&builder, root, "workloads");
    for (size_t i = 0; i < shown->count; i++)
        add_workload(&builder, list, shown, i);
    if (shown->campaign_count != 0)
        add_campaigns(&builder, root, shown);
    if (shown->count >= 3)
        add_correlations(&builder, root, (const struct stats_correlation(*)[UNITS])pairs);
    return json_write(&builder, root, text);
}
