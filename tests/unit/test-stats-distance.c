// SPDX-License-Identifier: GPL-3.0-or-later
// Distances of distributions, correlations and tails, against numbers worked out elsewhere.
#include "stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.9g, not %.9g", value, wanted);
}

static void fits(void **state)
{
    // A die thrown 60 times.
    const double observed[] = {5, 8, 9, 8, 10, 20}, expected[] = {10, 10, 10, 10, 10, 10};
    struct stats_test test;
    assert_null(stats_goodness_of_fit(observed, expected, 6, &test));
    expect_near(test.statistic, 13.4, 1e-9);
    assert_int_equal(test.freedom, 5);
    expect_near(test.p, 0.0199, 1e-4);
    // Rare ones are one row together: 3 against 8 expected.
    const double few[] = {12, 1, 2}, rare[] = {7, 4, 4};
    assert_null(stats_goodness_of_fit(few, rare, 3, &test));
    expect_near(test.statistic, 25 / 7.0 + 25 / 8.0, 1e-9);
    assert_int_equal(test.freedom, 1);
    assert_null(stats_goodness_of_fit(few, rare, 1, &test));
    assert_int_equal(test.method, STATS_NOTHING);
    const double impossible[] = {0, 15};
    struct error *error = stats_goodness_of_fit(few, impossible, 2, &test);
    assert_non_null(error);
    error_free(error);
    error = stats_goodness_of_fit((const double[]){NAN}, expected, 1, &test);
    assert_non_null(error);
    error_free(error);
}

static void divergences(void **state)
{
    const double a[] = {1, 0, 3}, b[] = {2, 0, 6}, c[] = {0, 5, 0}, nothing[] = {0, 0, 0};
    expect_near(stats_jensen_shannon(a, b, 3), 0, 1e-12);
    expect_near(stats_jensen_shannon(a, c, 3), 1, 1e-12);
    assert_true(isnan(stats_jensen_shannon(a, nothing, 3)));
    // {1, 0} and {1/2, 1/2}: 3/4 log2(4/3)
    const double one[] = {1, 0}, both[] = {1, 1};
    expect_near(stats_jensen_shannon(one, both, 2), 0.75 * log2(4 / 3.0), 1e-12);
}

static void correlations(void **state)
{
    const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 1, 4, 3, 7}, same[] = {3, 3, 3, 3, 3};
    struct stats_correlation result = stats_correlate(x, y, 5);
    expect_near(result.r, 12 / sqrt(10 * 21.2), 1e-9);
    expect_near(result.p, 0.0862, 2e-4);
    expect_near(stats_correlate(x, x, 5).r, 1, 1e-12);
    expect_near(stats_correlate(x, x, 5).p, 0, 1e-6);
    assert_true(isnan(stats_correlate(x, same, 5).r));
    assert_true(isnan(stats_correlate(x, y, 2).r));
}

// The exponent that made the mean of logarithms is found again.
static void tails(void **state)
{
    // Minus the logarithmic derivative of zeta at 2 is 0.569960993.
    struct stats_tail tail = stats_zeta_tail(0.5699609930945, 1000);
    expect_near(tail.exponent, 2, 1e-5);
    // zeta''/zeta - (zeta'/zeta)^2 at 2 is 0.884482; its root times sqrt(1000) is 29.74
    expect_near(tail.error, 1 / sqrt(1000 * 0.884482), 1e-4);
    assert_true(stats_zeta_tail(10, 100).exponent < stats_zeta_tail(2, 100).exponent);
    assert_true(stats_zeta_tail(10, 100).exponent > 1);
    assert_true(isnan(stats_zeta_tail(0, 100).exponent));
    assert_true(isnan(stats_zeta_tail(1, 0).exponent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits), cmocka_unit_test(divergences),
                                       cmocka_unit_test(correlations), cmocka_unit_test(tails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
