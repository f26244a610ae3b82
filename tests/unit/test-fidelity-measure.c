// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of a small program whose blocks and counts are known: every number by hand.
#include "fidelity/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Five blocks: an entry, a loop, two sides of a branch, one that nothing leads to; and a sixth that
// the linker dropped. Types: load (0), leak (1).
static struct fidelity_block blocks[] = {
    {.instructions = 4, .first_line = 0, .lines = 2, .first_candidate = 0, .candidates = 2, true},
    {.instructions = 6, .first_line = 2, .lines = 1, .first_candidate = 2, .candidates = 3, true},
    {.instructions = 2, .first_line = 3, .lines = 1, .first_candidate = 5, .candidates = 1, true},
    {.instructions = 8, .first_line = 4, .lines = 2, .first_candidate = 6, .candidates = 2, true},
    {.instructions = 0},
    {.instructions = 5, .first_line = 6, .lines = 1},
};
// The second line is in two blocks.
static struct fidelity_line lines[] = {{"a.c", 1, 0}, {"a.c", 2, 1}, {"a.c", 2, 1}, {"a.c", 3, 2},
                                       {"a.c", 4, 3}, {"a.c", 5, 4}, {"a.c", 6, 5}};
static struct fidelity_candidate candidates[] = {
    {0, 0, 0, 0, true}, {0, 0, 0, 0, true}, {0, 1, 0, 0, true}, {0, 1, 0, 0, true},
    {0, 1, 0, 0, true}, {1, 2, 0, 0, true}, {1, 3, 0, 0, true}, {1, 3, 0, 0, true}};
static const char *types[] = {"load", "leak"};

static struct fidelity_subject make_subject(void)
{
    struct fidelity_subject subject = {.lines = 6};
    subject.blocks.items = blocks;
    subject.blocks.count = 6;
    subject.block_lines.items = lines;
    subject.block_lines.count = 7;
    subject.candidates.items = candidates;
    subject.candidates.count = 8;
    subject.types.items = types;
    subject.types.count = 2;
    return subject;
}

static uint64_t first[] = {1, 8, 1, 0, 0, 0}, second[] = {1, 8, 0, 0, 0, 0},
                both[] = {2, 16, 1, 0, 0, 0};

static struct fidelity_workload make_workload(uint64_t **counts, size_t runs, uint64_t *total)
{
    struct fidelity_workload workload = {.counts = counts, .total = total};
    workload.runs.count = runs;
    return workload;
}

static void expect_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * fmax(1, fabs(wanted))))
        fail_msg("%.9g, not %.9g", value, wanted);
}

static void expect_coverage(const struct fidelity_result *result, enum fidelity_unit unit,
                            uint64_t executed, uint64_t total)
{
    assert_int_equal(result->coverage[unit].executed, executed);
    assert_int_equal(result->coverage[unit].total, total);
}

static void coverage_has_four_units(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t *counts[] = {first};
    struct fidelity_workload workload = make_workload(counts, 1, first);
    struct fidelity_result result;
    assert_null(fidelity_measure(&subject, &workload, &result));
    expect_coverage(&result, UNIT_CANDIDATES, 6, 8);
    expect_coverage(&result, UNIT_BLOCKS, 3, 4);
    expect_coverage(&result, UNIT_LINES, 3, 5);
    expect_coverage(&result, UNIT_INSTRUCTIONS, 12, 20);
    expect_near(fidelity_percent(result.coverage[UNIT_CANDIDATES]), 75);
    expect_near(result.executed.instructions, 4);
    expect_near(result.not_executed.instructions, 8);
    expect_near(result.executed.candidates, 2);
    fidelity_result_deinit(&result);
}

// What the linker seems to have dropped but was executed is there.
static void executed_is_present(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t count[] = {0, 0, 0, 0, 0, 3};
    uint64_t *counts[] = {count};
    struct fidelity_workload workload = make_workload(counts, 1, count);
    struct fidelity_result result;
    assert_null(fidelity_measure(&subject, &workload, &result));
    expect_coverage(&result, UNIT_BLOCKS, 1, 5);
    expect_coverage(&result, UNIT_LINES, 1, 6);
    expect_coverage(&result, UNIT_CANDIDATES, 0, 8);
    assert_true(isnan(result.to_executed.divergence));
    fidelity_result_deinit(&result);
}

static void types_are_counted(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t *counts[] = {first};
    struct fidelity_workload workload = make_workload(counts, 1, first);
    struct fidelity_result result;
    assert_null(fidelity_measure(&subject, &workload, &result));
    const struct fidelity_type *load = &result.types.items[0], *leak = &result.types.items[1];
    assert_int_equal(load->input, 5);
    assert_int_equal(load->executed, 5);
    expect_near(load->expected, 3.75);
    expect_near(load->activations, 2 + 24);
    expect_near(load->weight, 2 + 3 * 4.0);
    assert_int_equal(leak->input, 3);
    assert_int_equal(leak->executed, 1);
    expect_near(leak->weight, 1);
    // Shares in blocks: 1, 1, 0 where executed, 0 in the other.
    expect_near(load->covered, 2.0 / 3);
    expect_near(load->uncovered, 0);
    expect_near(leak->uncovered, 1);
    // {1, 1, 0} with log2 {0, 3, 0}: covariance 1 by deviations sqrt(2/3) and sqrt(6)
    expect_near(load->correlation.r, 0.5);
    // Executed or not by type: {5 0} {1 2}, chi-square 8 * (5*2 - 0*1)^2 / (5 * 3 * 6 * 2)
    expect_near(result.to_executed.test.statistic, 800.0 / 180);
    expect_near(result.association, sqrt(800.0 / 180 / 8));
    // {5/8 3/8} against {5/6 1/6}
    double p[] = {5 / 8.0, 3 / 8.0}, q[] = {5 / 6.0, 1 / 6.0}, bits = 0;
    for (int i = 0; i < 2; i++) {
        double middle = (p[i] + q[i]) / 2;
        bits += (p[i] * log2(p[i] / middle) + q[i] * log2(q[i] / middle)) / 2;
    }
    expect_near(result.to_executed.divergence, bits);
    // The tail rules more on the scale of counts than on that of logarithms.
    assert_true(result.to_counts.divergence > result.to_logarithms.divergence);
    fidelity_result_deinit(&result);
}

static void executions_have_a_tail(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t *counts[] = {first, second};
    struct fidelity_workload workload = make_workload(counts, 2, both);
    struct fidelity_result result;
    assert_null(fidelity_measure(&subject, &workload, &result));
    assert_int_equal(result.counts.blocks, 3);
    assert_int_equal(result.counts.median, 2);
    assert_int_equal(result.counts.most, 16);
    expect_near(result.counts.executions, 19);
    expect_near(result.counts.top_share, 16 / 19.0);
    const uint64_t histogram[] = {1, 1, 1, 1};
    assert_memory_equal(result.counts.histogram, histogram, sizeof histogram);
    // Each run's mean of logarithms is (log 8)/3 and (log 8)/2.
    struct stats_tail a = stats_zeta_tail(log(8) / 3, 3), b = stats_zeta_tail(log(8) / 2, 2);
    expect_near(result.counts.tail.exponent, (a.exponent + b.exponent) / 2);
    // Runs execute 75 and 50 percent, all of it in the first.
    expect_near(result.growth.per_run.mean, 62.5);
    assert_int_equal(result.growth.enough, 1);
    assert_int_equal(result.bands[4].blocks, 2);
    expect_near(result.bands[4].most, sqrt(8));
    assert_int_equal(result.bands[2].blocks, 1);
    fidelity_result_deinit(&result);
}

static void weights_make_up_for_it(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t *counts[] = {first};
    struct fidelity_workload workload = make_workload(counts, 1, first);
    struct fidelity_result result;
    struct fidelity_match match;
    assert_null(fidelity_measure(&subject, &workload, &result));
    assert_null(fidelity_match(&result, NULL, &match));
    // Model 5:3, executed 5:1: the second type is drawn three times as often.
    expect_near(match.weights.items[1] / match.weights.items[0], 3);
    expect_near(5 * match.weights.items[0] + match.weights.items[1], 6);
    expect_near(match.before.divergence, result.to_executed.divergence);
    assert_true(match.before.divergence > 0.04);
    expect_near(match.after.divergence, 0);
    expect_near(match.after.test.statistic, 0);
    expect_near(match.lost, 0);
    struct buffer text = {0};
    assert_null(fidelity_put_weights(&result, &match, &text));
    assert_non_null(strstr(text.data, "\nload 0.75\nleak 2.25\n"));
    buffer_deinit(&text);
    fidelity_match_deinit(&match);
    // A model of one type only.
    const double wanted[] = {0, 7};
    assert_null(fidelity_match(&result, wanted, &match));
    expect_near(match.weights.items[0], 0);
    expect_near(match.model.items[1], 1);
    fidelity_match_deinit(&match);
    struct error *error = fidelity_match(&result, (const double[]){0, 0}, &match);
    assert_non_null(error);
    error_free(error);
    fidelity_result_deinit(&result);
}

// A type that is never executed cannot be had.
static void what_is_lost_is_told(void **state)
{
    struct fidelity_subject subject = make_subject();
    uint64_t *counts[] = {second};
    struct fidelity_workload workload = make_workload(counts, 1, second);
    struct fidelity_result result;
    struct fidelity_match match;
    assert_null(fidelity_measure(&subject, &workload, &result));
    assert_null(fidelity_match(&result, NULL, &match));
    expect_near(match.lost, 3 / 8.0);
    expect_near(match.weights.items[1], 0);
    fidelity_match_deinit(&match);
    fidelity_result_deinit(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_has_four_units), cmocka_unit_test(executed_is_present),
        cmocka_unit_test(types_are_counted),       cmocka_unit_test(executions_have_a_tail),
        cmocka_unit_test(weights_make_up_for_it),  cmocka_unit_test(what_is_lost_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
