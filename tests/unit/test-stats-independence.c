// SPDX-License-Identifier: GPL-3.0-or-later
// Tests of independence against published results and against enumeration.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/stats.h"

#include <math.h>
#include <string.h>

static struct stats_test test_of(const uint64_t (*rows)[2], size_t count)
{
    struct stats_test test;
    struct error *error = stats_independence(rows, count, &test);
    if (error != NULL)
        fail_msg("%s", error_message(error));
    return test;
}
#define TEST_OF(...)                                                                               \
    test_of((const uint64_t[][2]){__VA_ARGS__},                                                    \
            sizeof((const uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]))

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.10g instead of %.10g", value, wanted);
}

static void published_values(void **state)
{
    // Aspirin and heart attacks: A. Agresti, An Introduction to Categorical Data Analysis, 2.3/2.4.
    struct stats_test test = TEST_OF({189, 10845}, {104, 10933});
    assert_int_equal(test.method, STATS_CHI_SQUARE);
    assert_int_equal(test.freedom, 1);
    near(test.statistic, 25.01, 0.01);
    near(test.p, 5.69e-7, 0.01e-7);
    // The lady tasting tea, R. A. Fisher, The Design of Experiments: 34/70.
    test = TEST_OF({3, 1}, {1, 3});
    assert_int_equal(test.method, STATS_FISHER);
    near(test.p, 34.0 / 70, 1e-12);
    // Whales and sharks in two oceans: the example of SciPy's fisher_exact.
    test = TEST_OF({8, 2}, {1, 5});
    assert_int_equal(test.method, STATS_FISHER);
    near(test.p, 0.0349650350, 1e-9);
}

// Tables V and VI of van der Kouwe et al. on Linux and MINIX:
// percentages of 12,000 runs each, and the stars that stand beside them.
struct part {
    double n, valid, crash; // percent of n, percent of the valid
    const char *valid_stars, *crash_stars;
};

static void compare_part(const struct part *part, double all_n, double all_valid, double all_crash)
{
    double valid = round(part->n * part->valid / 100), others = round(all_n * all_valid / 100);
    double crash = round(valid * part->crash / 100), other_crash = round(others * all_crash / 100);
    others -= valid;
    other_crash -= crash;
    struct stats_test test = TEST_OF({(uint64_t)valid, (uint64_t)(part->n - valid)},
                                     {(uint64_t)others, (uint64_t)(all_n - part->n - others)});
    assert_string_equal(stats_stars(test.p), part->valid_stars);
    test = TEST_OF({(uint64_t)crash, (uint64_t)(valid - crash)},
                   {(uint64_t)other_crash, (uint64_t)(others - other_crash)});
    assert_string_equal(stats_stars(test.p), part->crash_stars);
}

static void paper_003(void **state)
{
    static const struct part linux_parts[] = {
        {2189, 61.41, 1.06, "*", "***"},   {2262, 57.55, 9.3, "", "***"},
        {1332, 65.24, 1.99, "***", "***"}, {2383, 57.24, 4.1, "*", ""},
        {730, 61.1, 2.03, "", "*"},        {1496, 63.03, 3.83, "**", ""},
        {1608, 51.73, 5.59, "***", "*"}};
    static const struct part minix_parts[] = {
        {1037, 52.84, 1.82, "***", "***"}, {1057, 51.18, 4.07, "***", ""},
        {1620, 37.61, 7.65, "*", "***"},   {1738, 33.24, 4.34, "***", ""},
        {1234, 25.61, 3.8, "***", ""},     {2000, 41.94, 1.79, "*", "***"},
        {535, 53.46, 12.59, "***", "***"}, {352, 43.75, 3.9, "", ""},
        {1896, 39.7, 6.12, "", "*"},       {531, 30.19, 3.75, "***", ""}};
    for (size_t i = 0; i < sizeof linux_parts / sizeof *linux_parts; i++)
        compare_part(&linux_parts[i], 12000, 59.15, 4.23);
    for (size_t i = 0; i < sizeof minix_parts / sizeof *minix_parts; i++)
        compare_part(&minix_parts[i], 12000, 39.87, 4.69);
    // Between the systems: valid differs (###), crash does not.
    assert_string_equal(stats_stars(TEST_OF({7098, 4902}, {4784, 7216}).p), "***");
    assert_string_equal(stats_stars(TEST_OF({300, 6798}, {224, 4560}).p), "");
}

static void nothing_to_tell(void **state)
{
    struct stats_test tests[] = {
        TEST_OF({0, 10}, {0, 20}), TEST_OF({10, 0}, {20, 0}), TEST_OF({5, 5}),
        TEST_OF({5, 5}, {0, 0}),   TEST_OF({0, 0}, {0, 0}),   test_of(NULL, 0),
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        assert_int_equal(tests[i].method, STATS_NOTHING);
        assert_true(tests[i].p == 1 && tests[i].statistic == 0);
    }
    struct stats_test test;
    struct error *error =
        stats_independence((const uint64_t[][2]){{UINT64_MAX, 1}, {1, 1}}, 2, &test);
    assert_non_null(error);
    error_free(error);
}

static void methods(void **state)
{
    assert_int_equal(TEST_OF({5, 5}, {5, 5}).method, STATS_CHI_SQUARE); // expected exactly 5
    assert_int_equal(TEST_OF({4, 5}, {5, 5}).method, STATS_FISHER);
    assert_int_equal(TEST_OF({9, 91}, {1, 99}, {0, 0}).method, STATS_CHI_SQUARE);
    assert_int_equal(TEST_OF({8, 91}, {1, 99}, {0, 0}).method, STATS_FISHER);
    assert_int_equal(TEST_OF({8, 91}, {1, 99}, {1, 0}).method, STATS_MONTE_CARLO);
    assert_int_equal(TEST_OF({50, 50}, {40, 60}, {30, 70}).method, STATS_CHI_SQUARE);
    assert_int_equal(TEST_OF({50, 50}, {40, 60}, {30, 70}).freedom, 2);
    for (int i = STATS_CHI_SQUARE; i <= STATS_NOTHING; i++)
        assert_true(strlen(stats_method_name((enum stats_method)i)) > 0);
    assert_string_equal(stats_stars(0.05), "");
    assert_string_equal(stats_stars(0.049), "*");
    assert_string_equal(stats_stars(0.01), "*");
    assert_string_equal(stats_stars(0.0099), "**");
    assert_string_equal(stats_stars(0.00099), "***");
}

static uint64_t choose(uint64_t n, uint64_t k)
{
    uint64_t result = 1;
    for (uint64_t i = 1; i <= k; i++)
        result = result * (n - k + i) / i;
    return result;
}

// All tables with these sums, counted in integers: how many there are of those that are no more
// frequent than the one given.
static double fisher_by_counting(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t first = a + b, second = c + d, hits = a + c, sum = 0;
    uint64_t given = choose(first, a) * choose(second, c);
    for (uint64_t x = 0; x <= first && x <= hits; x++) {
        if (hits - x > second)
            continue;
        uint64_t ways = choose(first, x) * choose(second, hits - x);
        sum += ways <= given ? ways : 0;
    }
    return (double)sum / (double)choose(first + second, hits);
}

static void fisher_by_enumeration(void **state)
{
    unsigned compared = 0;
    for (uint64_t a = 0; a <= 7; a++)
        for (uint64_t b = 0; b <= 7; b++)
            for (uint64_t c = 0; c <= 7; c++)
                for (uint64_t d = 0; d <= 7; d++) {
                    struct stats_test test = TEST_OF({a, b}, {c, d});
                    if (test.method != STATS_FISHER)
                        continue;
                    near(test.p, fisher_by_counting(a, b, c, d), 1e-12);
                    compared++;
                }
    assert_true(compared > 2000);
    near(TEST_OF({1, 29}, {7, 23}).p, fisher_by_counting(1, 29, 7, 23), 1e-9);
}

static void fisher_of_large_tables(void **state)
{
    // One hit among n in either row: all as good as 1.
    near(TEST_OF({1, 999999999}, {0, 1000000000}).p, 1, 1e-9);
    // All four hits in one of two equal halves: 2 / 2^4, but for the size of the population.
    near(TEST_OF({4, 999999996}, {0, 1000000000}).p, 0.125, 1e-6);
    struct stats_test test = TEST_OF({1000, 1000000}, {0, 3000});
    near(test.p, 0.1225, 0.02);
    test = TEST_OF({40, 10}, {0, 100000});
    assert_true(test.method == STATS_FISHER && test.p >= 0 && test.p < 1e-100);
}

// p by all tables with the same sums, each as often as it occurs.
static double p_by_counting(const uint64_t (*rows)[2], double statistic)
{
    uint64_t sizes[3], hits = 0, total = 0;
    double sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        sizes[i] = rows[i][0] + rows[i][1];
        hits += rows[i][0];
        total += sizes[i];
    }
    for (uint64_t x = 0; x <= sizes[0] && x <= hits; x++)
        for (uint64_t y = 0; y <= sizes[1] && x + y <= hits; y++) {
            uint64_t z = hits - x - y;
            if (z > sizes[2])
                continue;
            const uint64_t drawn[] = {x, y, z};
            double distance = 0, share = (double)hits / (double)total, ways = 1;
            for (unsigned i = 0; i < 3; i++) {
                double expected = (double)sizes[i] * share, off = (double)drawn[i] - expected;
                distance += off * off / expected + off * off / ((double)sizes[i] - expected);
                ways *= (double)choose(sizes[i], drawn[i]);
            }
            sum += distance >= statistic * (1 - 1e-9) ? ways : 0;
        }
    return sum / (double)choose(total, hits);
}

static void simulation(void **state)
{
    static const uint64_t tables[][3][2] = {
        {{3, 1}, {1, 3}, {2, 6}}, {{4, 0}, {0, 4}, {2, 2}},   {{1, 9}, {0, 10}, {4, 6}},
        {{0, 8}, {7, 1}, {2, 9}}, {{1, 19}, {2, 8}, {0, 30}}, {{10, 2}, {9, 3}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct stats_test test = test_of(tables[i], 3);
        assert_int_equal(test.method, STATS_MONTE_CARLO);
        double p = p_by_counting(tables[i], test.statistic);
        near(test.p, p, 4 * sqrt(p * (1 - p) / 10000) + 0.0002);
        assert_true(test.p == test_of(tables[i], 3).p);
    }
    // Large counts beside a small row: the rows differ, or they do not.
    assert_true(TEST_OF({50000, 50000}, {40000, 60000}, {1, 2}).p < 0.0002);
    assert_true(TEST_OF({50000, 50000}, {50000, 50000}, {1, 2}).p > 0.5);
    // The two large rows give 3.88 with one degree of freedom; the small one adds 0 or about 2,
    // each half of the time: 0.049 / 2 + 0.168 / 2.
    near(TEST_OF({500, 500}, {544, 456}, {1, 1}).p, 0.108, 0.012);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(paper_003),
        cmocka_unit_test(nothing_to_tell),
        cmocka_unit_test(methods),
        cmocka_unit_test(fisher_by_enumeration),
        cmocka_unit_test(fisher_of_large_tables),
        cmocka_unit_test(simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
