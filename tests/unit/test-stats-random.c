// SPDX-License-Identifier: GPL-3.0-or-later
// The random stream is the published one, stays what it is, and samples are fair.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "stats/stats.h"

#include <math.h>
#include <string.h>

// What the authors' C code (https://prng.di.unimi.it/xoshiro256starstar.c) gives for this state;
// other implementations test with the same numbers, e.g. Rust's rand_xoshiro.
static void reference_numbers(void **state)
{
    static const uint64_t wanted[] = {
        11520,
        0,
        1509978240,
        1215971899390074240,
        1216172134540287360,
        607988272756665600,
        16172922978634559625u,
        8476171486693032832,
        10595114339597558777u,
        2904607092377533576,
    };
    struct stats_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(stats_random_next(&random) == wanted[i]);
}

// Numbers that stored campaigns depend on: they must never change.
static void pinned(void **state)
{
    struct stats_random random = stats_random_start(1, 2);
    uint64_t first = stats_random_next(&random);
    if (first != 0x90f327ef8a952f02)
        fail_msg("%#lx", first);
    _cleanup_free_ uint64_t *indices = NULL;
    uint64_t count;
    random = stats_random_start(42, 0);
    assert_null(stats_sample(&random, 1000, 5, &indices, &count));
    static const uint64_t sample[] = {158, 493, 567, 665, 932};
    for (unsigned i = 0; i < 5; i++)
        if (indices[i] != sample[i])
            fail_msg("%lu, %lu, %lu, %lu, %lu", indices[0], indices[1], indices[2], indices[3],
                     indices[4]);
}

static void streams_differ(void **state)
{
    uint64_t first[64];
    for (unsigned i = 0; i < 64; i++) {
        struct stats_random random = stats_random_start(i / 8, i % 8);
        first[i] = stats_random_next(&random);
        for (unsigned k = 0; k < i; k++)
            assert_true(first[i] != first[k]);
    }
}

static void below(void **state)
{
    struct stats_random random = stats_random_start(3, 0);
    assert_true(stats_random_below(&random, 0) == 0);
    assert_true(stats_random_below(&random, 1) == 0);
    unsigned counts[7] = {0};
    for (unsigned i = 0; i < 70000; i++)
        counts[stats_random_below(&random, 7)]++;
    double distance = 0;
    for (unsigned i = 0; i < 7; i++)
        distance += (counts[i] - 1e4) * (counts[i] - 1e4) / 1e4;
    assert_true(distance < 22.46); // p = 0.001 with 6 degrees of freedom
    // A bound just above half of the range: a remainder would favour the lower half.
    uint64_t bound = 3ull << 62, low = 0;
    for (unsigned i = 0; i < 30000; i++)
        low += stats_random_below(&random, bound) < bound / 2;
    assert_true(fabs((double)low - 15000) < 400);
    for (unsigned i = 0; i < 10000; i++) {
        double unit = stats_random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
    }
}

static void samples_are_fair(void **state)
{
    struct stats_random random = stats_random_start(5, 0);
    unsigned counts[5][5] = {{0}};
    for (unsigned i = 0; i < 20000; i++) {
        _cleanup_free_ uint64_t *indices = NULL;
        uint64_t count;
        assert_null(stats_sample(&random, 5, 2, &indices, &count));
        assert_true(count == 2 && indices[0] < indices[1] && indices[1] < 5);
        counts[indices[0]][indices[1]]++;
    }
    double distance = 0;
    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = i + 1; k < 5; k++)
            distance += (counts[i][k] - 2000.0) * (counts[i][k] - 2000.0) / 2000;
    assert_true(distance < 27.88); // p = 0.001 with 9 degrees of freedom
}

static void samples_have_no_repetition(void **state)
{
    static const uint64_t cases[][2] = {
        {0, 0},   {0, 5},      {1, 0},      {1, 1},    {10, 9},
        {10, 50}, {1000, 999}, {1000, 500}, {5000, 1}, {1ull << 62, 2000}};
    struct stats_random random = stats_random_start(6, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _cleanup_free_ uint64_t *indices = NULL;
        uint64_t count, n = cases[i][0], chosen = cases[i][1];
        assert_null(stats_sample(&random, n, chosen, &indices, &count));
        assert_true(count == (chosen < n ? chosen : n));
        for (uint64_t k = 0; k < count; k++)
            assert_true(indices[k] < n && (k == 0 || indices[k - 1] < indices[k]));
    }
}

// Drawn one after the other by weight, 1 : 2 : 5, two of them: who is left out?
static void weights(void **state)
{
    static const double given[] = {1, 0, 2, 5};
    struct stats_random random = stats_random_start(7, 0);
    unsigned chosen[4] = {0};
    for (unsigned i = 0; i < 40000; i++) {
        _cleanup_free_ uint64_t *indices = NULL;
        uint64_t count;
        assert_null(stats_sample_weighted(&random, given, 4, 2, &indices, &count));
        assert_true(count == 2 && indices[0] < indices[1]);
        chosen[indices[0]]++;
        chosen[indices[1]]++;
    }
    // 1 is first, or second after 2 or 5: 1/8 + 2/8 * 1/6 + 5/8 * 1/3
    double first = 1 / 8.0 + 2 / 8.0 / 6 + 5 / 8.0 / 3;
    double third = 2 / 8.0 + 1 / 8.0 * 2 / 7 + 5 / 8.0 * 2 / 3;
    assert_int_equal(chosen[1], 0);
    assert_true(fabs(chosen[0] / 40000.0 - first) < 0.01);
    assert_true(fabs(chosen[2] / 40000.0 - third) < 0.01);
    assert_true(fabs(chosen[3] / 40000.0 - (2 - first - third)) < 0.01);
}

static void odd_weights(void **state)
{
    struct stats_random random = stats_random_start(8, 0);
    _cleanup_free_ uint64_t *indices = NULL;
    uint64_t count;
    assert_null(
        stats_sample_weighted(&random, (double[]){0, 3, 0, 1e-300}, 4, 4, &indices, &count));
    assert_true(count == 2 && indices[0] == 1 && indices[1] == 3);
    static const double bad[] = {-1, NAN, INFINITY};
    for (unsigned i = 0; i < 3; i++) {
        _cleanup_error_ struct error *error =
            stats_sample_weighted(&random, (double[]){1, bad[i]}, 2, 1, &indices, &count);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), "weight number 2"));
    }
    free(TAKE(indices));
    assert_null(stats_sample_weighted(&random, NULL, 0, 4, &indices, &count));
    assert_true(count == 0);
    // Many items and few chosen: the heap keeps the right ones. All weight is on the last tenth.
    static double many[1000];
    for (unsigned i = 0; i < 1000; i++)
        many[i] = i >= 900 ? 1 : 1e-12;
    free(TAKE(indices));
    assert_null(stats_sample_weighted(&random, many, 1000, 90, &indices, &count));
    assert_true(count == 90 && indices[0] >= 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_numbers), cmocka_unit_test(pinned),
        cmocka_unit_test(streams_differ),    cmocka_unit_test(below),
        cmocka_unit_test(samples_are_fair),  cmocka_unit_test(samples_have_no_repetition),
        cmocka_unit_test(weights),           cmocka_unit_test(odd_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
