// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals and sample sizes against published numbers and against what they promise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/stats.h"

#include <math.h>

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.10g instead of %.10g", value, wanted);
}

// R. G. Newcombe, Two-sided confidence intervals for the single proportion: comparison of seven
// methods, Statistics in Medicine 17 (1998), table I, method 3.
static void newcombes_table(void **state)
{
    static const struct {
        uint64_t hits, n;
        double low, high;
    } rows[] = {{81, 263, 0.2553, 0.3662},
                {15, 148, 0.0624, 0.1605},
                {0, 20, 0.0000, 0.1611},
                {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stats_interval interval = stats_wilson(rows[i].hits, rows[i].n, 0.95);
        near(interval.low, rows[i].low, 0.00005);
        near(interval.high, rows[i].high, 0.00005);
    }
}

static void edges_are_exact(void **state)
{
    struct stats_interval all = stats_wilson(0, 0, 0.95);
    assert_true(all.low == 0 && all.high == 1);
    for (uint64_t n = 1; n < 2000; n++) {
        struct stats_interval none = stats_wilson(0, n, 0.95), every = stats_wilson(n, n, 0.95);
        assert_true(none.low == 0 && none.high > 0 && none.high < 1);
        assert_true(every.high == 1 && every.low > 0 && every.low < 1);
        near(every.low, 1 - none.high, 1e-15);
    }
    all = stats_wilson(3, 7, 1);
    assert_true(all.low == 0 && all.high == 1);
    all = stats_wilson(9, 7, 0.95); // more hits than trials: as many
    assert_true(all.high == 1);
    all = stats_wilson(1ull << 62, 1ull << 63, 0.95);
    near(all.high - all.low, 0, 1e-8);
}

// The ends are those proportions of which the observed one is just z deviations away: this defines
// the interval.
static void ends_solve_the_equation(void **state)
{
    const double z = 1.959963984540054;
    for (uint64_t n = 1; n <= 60; n++)
        for (uint64_t hits = 0; hits <= n; hits++) {
            struct stats_interval interval = stats_wilson(hits, n, 0.95);
            double share = (double)hits / (double)n, ends[] = {interval.low, interval.high};
            for (unsigned i = 0; i < 2; i++)
                if (ends[i] > 0 && ends[i] < 1)
                    near(fabs(share - ends[i]) / sqrt(ends[i] * (1 - ends[i]) / (double)n), z,
                         1e-9);
        }
}

static double coverage(unsigned n, double share)
{
    double sum = 0, chance = pow(1 - share, n);
    for (unsigned hits = 0; hits <= n; hits++) {
        struct stats_interval interval = stats_wilson(hits, n, 0.95);
        if (interval.low <= share && share <= interval.high)
            sum += chance;
        chance *= (n - hits) / (hits + 1.0) * share / (1 - share);
    }
    return sum;
}

// Averaged over all proportions, 95 % of the intervals hold the true one.
static void intervals_cover(void **state)
{
    static const unsigned sizes[] = {5, 10, 25, 50, 100};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double sum = 0, least = 1;
        for (unsigned i = 1; i < 1000; i++) {
            double one = coverage(sizes[k], i / 1000.0);
            sum += one / 999;
            least = fmin(least, i >= 100 && i <= 900 ? one : 1);
        }
        near(sum, 0.9525, 0.0075);
        assert_true(least > 0.87);
    }
}

// The usual table (W. G. Cochran, Sampling Techniques, ch. 4): z²/4d².
static void sample_sizes(void **state)
{
    assert_int_equal(stats_sample_size(0.05, 0.95, -1), 385);
    assert_int_equal(stats_sample_size(0.03, 0.95, -1), 1068);
    assert_int_equal(stats_sample_size(0.01, 0.95, -1), 9604);
    assert_int_equal(stats_sample_size(0.05, 0.99, -1), 664);
    assert_int_equal(stats_sample_size(0.05, 0.90, -1), 271);
    assert_int_equal(stats_sample_size(0.05, 0.95, 0.5), 385);
    // The formula's 246 leave the longer side of the interval a little too long.
    assert_true(stats_sample_size(0.05, 0.95, 0.2) > 246);
    assert_true(stats_sample_size(0.05, 0.95, 0.2) < 300);
    assert_true(stats_sample_size(0, 0.95, -1) == UINT64_MAX);
}

// Whatever is expected, an interval of that many trials is narrow enough, and one of fewer trials
// is not for rare events, where the textbook's number would be next to nothing.
static void sample_sizes_suffice(void **state)
{
    static const double shares[] = {0, 0.01, 0.05, 0.2, 0.5, 0.8, 1};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (double width = 0.01; width < 0.3; width *= 1.7) {
            uint64_t n = stats_sample_size(width, 0.95, shares[i]);
            double hits = shares[i] * (double)n;
            struct stats_interval interval = stats_wilson((uint64_t)(hits + 0.5), n, 0.95);
            double share = round(hits) / (double)n;
            assert_true(interval.high - share <= width + 1.0 / (double)n);
            assert_true(share - interval.low <= width + 1.0 / (double)n);
        }
    // z²(1/d - 1) = 3.84 * 19 = 72.99
    assert_int_equal(stats_sample_size(0.05, 0.95, 0), 73);
    assert_true(stats_wilson(0, 73, 0.95).high <= 0.05);
    assert_true(stats_wilson(0, 72, 0.95).high > 0.05);
}

// S. K. Thompson, Sample size for estimating multinomial proportions, The American Statistician
// 41(1) (1987), table 1: d²n for the worst proportions.
static void thompsons_table(void **state)
{
    static const struct {
        double alpha, square;
    } rows[] = {{0.50, 0.44129}, {0.40, 0.50729},  {0.30, 0.60123},  {0.20, 0.74739},
                {0.10, 1.00635}, {0.05, 1.27359},  {0.025, 1.55963}, {0.02, 1.65872},
                {0.01, 1.96986}, {0.005, 2.28514}, {0.001, 3.02892}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        near((double)stats_sample_size_bonferroni(0.0001, 1 - rows[i].alpha, 20) * 1e-8,
             rows[i].square, 0.00001);
    assert_int_equal(stats_sample_size_bonferroni(0.05, 0.95, 9), 510);
    assert_int_equal(stats_sample_size_bonferroni(0.05, 0.90, 4), 403);
    // Two of them: half of the error each. One: an ordinary proportion.
    assert_int_equal(stats_sample_size_bonferroni(0.05, 0.95, 2), 503);
    assert_int_equal(stats_sample_size_bonferroni(0.05, 0.95, 1), 385);
}

// The setting of section 3.3.2: four categories, half-width 0.05, 1 - alpha = 0.9. With equal
// proportions, 300 trials are sqrt(300) * 0.05 / sqrt(3 / 16) = 2.000 deviations: 4 * 0.0455.
static void bonferroni_sums(void **state)
{
    double sum;
    assert_false(stats_accurate_bonferroni((uint64_t[]){75, 75, 75, 75}, 4, 300, 0.05, 0.9, &sum));
    near(sum, 0.18200, 0.00005);
    assert_true(
        stats_accurate_bonferroni((uint64_t[]){100, 100, 100, 100}, 4, 400, 0.05, 0.9, &sum));
    near(sum, 0.08366, 0.0001);
    assert_true(stats_accurate_bonferroni((uint64_t[]){380, 20, 0, 0}, 4, 400, 0.05, 0.9, NULL));
    assert_false(stats_accurate_bonferroni((uint64_t[]){0, 0}, 2, 0, 0.05, 0.9, &sum));
    // The equation says that nothing can be wrong; one trial shows nothing, though.
    assert_false(stats_accurate_bonferroni((uint64_t[]){1, 0, 0, 0}, 4, 1, 0.05, 0.9, &sum));
    assert_true(sum == 0);
    assert_false(stats_accurate_bonferroni((uint64_t[]){50, 0, 0, 0}, 4, 50, 0.05, 0.9, NULL));
    assert_true(stats_accurate_bonferroni((uint64_t[]){150, 0, 0, 0}, 4, 150, 0.05, 0.9, NULL));
    // The size asked for beforehand is enough, whatever comes.
    uint64_t n = stats_sample_size_bonferroni(0.05, 0.9, 4);
    for (uint64_t a = 0; a <= n; a += 13)
        for (uint64_t b = 0; a + b <= n; b += 13)
            assert_true(stats_accurate_bonferroni(
                (uint64_t[]){a, b, (n - a - b) / 2, n - a - b - (n - a - b) / 2}, 4, n, 0.05, 0.9,
                NULL));
}

// Values far from zero, where sums of squares fail: variance 30, whatever is added.
static void moments_are_stable(void **state)
{
    static const double values[] = {4, 7, 13, 16};
    for (double shift = 0; shift <= 1e9; shift = shift * 1000 + 1) {
        struct stats_moments moments = {0};
        for (unsigned i = 0; i < 4; i++) {
            stats_add(&moments, shift + values[i]);
            assert_true(i > 0 || moments.deviation == 0);
        }
        near(moments.mean, shift + 10, 1e-6);
        near(moments.deviation, sqrt(30), 1e-6);
        assert_int_equal(moments.n, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcombes_table),
        cmocka_unit_test(edges_are_exact),
        cmocka_unit_test(ends_solve_the_equation),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(sample_sizes),
        cmocka_unit_test(sample_sizes_suffice),
        cmocka_unit_test(thompsons_table),
        cmocka_unit_test(bonferroni_sums),
        cmocka_unit_test(moments_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
