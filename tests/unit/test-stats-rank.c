// SPDX-License-Identifier: GPL-3.0-or-later
// Rank correlation and Cramer's V against values that were computed by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/stats.h"

#include <math.h>

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12f is not %.12f", value, expected);
}

static void test_spearman(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5}, falling[] = {50, 40, 30, 20, 10},
                        mixed[] = {2, 1, 4, 3, 5}, ones[] = {1, 1, 1, 1, 1};
    struct stats_correlation found;
    assert_null(stats_spearman(x, falling, ones, 5, &found));
    close_to(found.r, -1);
    close_to(found.p, 0);
    assert_null(stats_spearman(x, mixed, ones, 5, &found));
    close_to(found.r, 1 - 6.0 * 4 / (5 * 24));
    assert_int_equal(found.n, 5);
    assert_null(stats_spearman(x, ones, ones, 5, &found));
    assert_true(isnan(found.r));
}

// A pair of weight n is n equal pairs.
static void test_weights(void **state)
{
    static const double x[] = {1, 2, 7}, y[] = {3, 9, 4}, weights[] = {3, 1, 2},
                        long_x[] = {1, 1, 1, 2, 7, 7}, long_y[] = {3, 3, 3, 9, 4, 4},
                        ones[] = {1, 1, 1, 1, 1, 1};
    struct stats_correlation weighted, plain;
    assert_null(stats_spearman(x, y, weights, 3, &weighted));
    assert_null(stats_spearman(long_x, long_y, ones, 6, &plain));
    close_to(weighted.r, plain.r);
    close_to(weighted.p, plain.p);
    assert_int_equal(weighted.n, 6);
}

static void test_cramer(void **state)
{
    static const uint64_t apart[][2] = {{10, 0}, {0, 20}}, same[][2] = {{10, 20}, {5, 10}},
                          none[][2] = {{10, 0}, {5, 0}}, some[][2] = {{30, 10}, {10, 30}};
    close_to(stats_cramer(apart, 2), 1);
    close_to(stats_cramer(same, 2), 0);
    assert_true(isnan(stats_cramer(none, 2)));
    close_to(stats_cramer(some, 2), 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spearman),
                                       cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_cramer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
