// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of workloads as JSON.
#include "cli/faults/fidelity-show.h"
#include "report/json.h"

#include <math.h>

// JSON cannot express NAN: a value that is not known is left out.
static void add_real(struct json_maker *maker, json_t *parent, const char *key, double value)
{
    if (isfinite(value))
        json_add_real(maker, parent, key, value);
}

static void add_coverage(struct json_maker *maker, json_t *parent,
                         const struct fidelity_result *result)
{
    static const char *const keys[UNITS] = {"candidates", "blocks", "lines", "instructions"};
    json_t *list = json_add_object(maker, parent, "coverage");
    for (int unit = 0; unit < UNITS; unit++) {
        json_t *one = json_add_object(maker, list, keys[unit]);
        json_add_integer(maker, one, "executed", result->coverage[unit].executed);
        json_add_integer(maker, one, "total", result->coverage[unit].total);
        json_add_real(maker, one, "percent", fidelity_percent(result->coverage[unit]));
    }
    const struct fidelity_size *const sizes[] = {&result->executed, &result->not_executed};
    for (int i = 0; i < 2; i++) {
        json_t *one = json_add_object(maker, parent, i == 0 ? "executed_block" : "other_block");
        json_add_real(maker, one, "candidates", sizes[i]->candidates);
        json_add_real(maker, one, "lines", sizes[i]->lines);
        json_add_real(maker, one, "instructions", sizes[i]->instructions);
    }
}

static void add_executions(struct json_maker *maker, json_t *parent,
                           const struct fidelity_counts *counts)
{
    json_t *one = json_add_object(maker, parent, "executions");
    json_add_integer(maker, one, "blocks", counts->blocks);
    json_add_integer(maker, one, "median", counts->median);
    json_add_integer(maker, one, "percentile_90", counts->ninety);
    json_add_integer(maker, one, "percentile_99", counts->ninety_nine);
    json_add_integer(maker, one, "most", counts->most);
    add_real(maker, one, "sum", counts->executions);
    add_real(maker, one, "top_percent_share", counts->top_share);
    add_real(maker, one, "exponent", counts->tail.exponent);
    add_real(maker, one, "exponent_error", counts->tail.error);
    json_t *list = json_add_array(maker, one, "decades"); // 0, 1, 2-9, 10-99, ...
    for (int i = 0; i < FIDELITY_DECADES; i++)
        json_add_integer(maker, list, NULL, counts->histogram[i]);
}

static void add_runs(struct json_maker *maker, json_t *parent, const struct fidelity_result *result)
{
    json_add_integer(maker, parent, "runs", result->runs);
    if (result->runs < 2)
        return;
    json_t *one = json_add_object(maker, parent, "growth");
    json_add_integer(maker, one, "enough", result->growth.enough);
    add_real(maker, one, "blocks_percent_mean", result->growth.per_run.mean);
    add_real(maker, one, "blocks_percent_deviation", result->growth.per_run.deviation);
    json_t *list = json_add_array(maker, parent, "blocks_by_share_of_runs");
    for (int i = 0; i < FIDELITY_BANDS; i++) {
        json_t *band = json_add_object(maker, list, NULL);
        add_real(maker, band, "up_to", result->bands[i].up_to);
        json_add_integer(maker, band, "blocks", result->bands[i].blocks);
        add_real(maker, band, "most_executions", result->bands[i].most);
    }
}

static void add_types(struct json_maker *maker, json_t *parent, const struct fidelity_shown *shown,
                      size_t workload)
{
    const struct fidelity_result *result = &shown->results[workload];
    json_t *list = json_add_array(maker, parent, "types");
    for (size_t i = 0; i < result->types.count; i++) {
        const struct fidelity_type *type = &result->types.items[i];
        json_t *row = json_add_object(maker, list, NULL);
        json_add_string(maker, row, "type", type->name);
        json_add_integer(maker, row, "input", type->input);
        json_add_integer(maker, row, "executed", type->executed);
        add_real(maker, row, "expected", type->expected);
        add_real(maker, row, "activations", type->activations);
        add_real(maker, row, "activations_log", type->weight);
        add_real(maker, row, "share_in_executed_blocks", type->covered);
        add_real(maker, row, "share_in_other_blocks", type->uncovered);
        add_real(maker, row, "correlation", type->correlation.r);
        add_real(maker, row, "correlation_p", type->correlation.p);
        if (shown->match != NULL && workload == 0) {
            add_real(maker, row, "model", shown->match->model.items[i]);
            add_real(maker, row, "weight", shown->match->weights.items[i]);
        }
    }
}

static void add_distance(struct json_maker *maker, json_t *parent, const char *key,
                         const struct fidelity_distance *distance)
{
    json_t *one = json_add_object(maker, parent, key);
    json_add_string(maker, one, "method", stats_method_name(distance->test.method));
    add_real(maker, one, "chi_square", distance->test.statistic);
    json_add_integer(maker, one, "freedom", distance->test.freedom);
    add_real(maker, one, "p", distance->test.p);
    add_real(maker, one, "jensen_shannon", distance->divergence);
}

static void add_workload(struct json_maker *maker, json_t *list, const struct fidelity_shown *shown,
                         size_t number)
{
    const struct fidelity_result *result = &shown->results[number];
    json_t *row = json_add_object(maker, list, NULL);
    json_add_string(maker, row, "label", shown->workloads[number].label);
    const struct fidelity_subject *subject = &shown->subjects[number];
    json_t *binaries = json_add_array(maker, row, "binaries");
    for (size_t i = 0; i < subject->images.count; i++)
        json_add_string(maker, binaries, NULL, subject->images.items[i].path);
    add_runs(maker, row, result);
    add_coverage(maker, row, result);
    add_executions(maker, row, &result->counts);
    add_types(maker, row, shown, number);
    json_t *distortion = json_add_object(maker, row, "distortion");
    add_distance(maker, distortion, "executed", &result->to_executed);
    add_distance(maker, distortion, "activations_log", &result->to_logarithms);
    add_distance(maker, distortion, "activations", &result->to_counts);
    add_real(maker, distortion, "cramers_v", result->association);
    if (shown->match == NULL || number != 0)
        return;
    json_t *match = json_add_object(maker, row, "match");
    add_real(maker, match, "lost", shown->match->lost);
    add_distance(maker, match, "before", &shown->match->before);
    add_distance(maker, match, "after", &shown->match->after);
}

static void add_campaigns(struct json_maker *maker, json_t *root,
                          const struct fidelity_shown *shown)
{
    json_t *list = json_add_array(maker, root, "campaigns");
    for (size_t i = 0; i < shown->campaign_count; i++) {
        json_t *row = json_add_object(maker, list, NULL);
        json_add_string(maker, row, "store", shown->campaigns[i].path);
        json_add_integer(maker, row, "trials", shown->campaigns[i].trials);
        json_add_integer(maker, row, "activated", shown->campaigns[i].activated);
        add_distance(maker, row, "distortion", &shown->campaigns[i].distance);
    }
}

static void add_correlations(struct json_maker *maker, json_t *root,
                             const struct stats_correlation pairs[UNITS][UNITS])
{
    json_t *list = json_add_array(maker, root, "coverage_correlations");
    for (int a = 0; a < UNITS; a++)
        for (int b = a + 1; b < UNITS; b++) {
            json_t *row = json_add_object(maker, list, NULL);
            json_add_string(maker, row, "first", fidelity_unit_names[a]);
            json_add_string(maker, row, "second", fidelity_unit_names[b]);
            add_real(maker, row, "r", pairs[a][b].r);
            add_real(maker, row, "p", pairs[a][b].p);
        }
}

struct error *fidelity_put_json(const struct fidelity_shown *shown, struct buffer *text)
{
    struct json_maker maker = {0};
    struct stats_correlation pairs[UNITS][UNITS];
    struct error *error = fidelity_correlate_units(shown, pairs);
    if (error != NULL)
        return error;
    __attribute__((cleanup(json_release))) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_t *list = json_add_array(&maker, root, "workloads");
    for (size_t i = 0; i < shown->count; i++)
        add_workload(&maker, list, shown, i);
    if (shown->campaign_count != 0)
        add_campaigns(&maker, root, shown);
    if (shown->count >= 3)
        add_correlations(&maker, root, (const struct stats_correlation(*)[UNITS])pairs);
    return json_write(&maker, root, text);
}
