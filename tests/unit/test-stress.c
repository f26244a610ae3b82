// SPDX-License-Identifier: GPL-3.0-or-later
// When and where the strategies inject, on loads whose best moments are known; the scale of stress.
#include "stress/command.h"
#include "stress/measure.h"
#include "stress/strategy.h"
#include "stress/target.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#define SAMPLES  20000
#define PERIOD_S 0.5

// A made-up load: ten samples of much I/O, ten of much memory and processor, ten of nearly nothing.
static void load_at(size_t sample, double ret_stress[STRESS_AREAS])
{
    static const double phases[3][STRESS_AREAS] = {
        {0.5, 0.4, 1.0}, {0.9, 1.0, 0.1}, {0.2, 0.1, 0.0}};
    const double *stress = phases[sample / 10 % 3];
    for (unsigned area = 0; area < STRESS_AREAS; area++)
        ret_stress[area] = stress[area];
}

struct counts {
    size_t phases[3], areas[3][STRESS_AREAS], all;
};

static struct counts follow(enum strategy_kind kind, double mean_s, uint64_t seed)
{
    struct strategy strategy = {.kind = kind,
                                .areas = {true, true, true},
                                .weights = {1, 1, 1},
                                .threshold = 0.5,
                                .mean_s = mean_s,
                                .random = stats_random_start(seed, 0)};
    struct counts counts = {0};
    strategy_start(&strategy);
    for (size_t i = 0; i < SAMPLES; i++) {
        double stress[STRESS_AREAS];
        enum stress_area area;
        load_at(i, stress);
        if (!strategy_decide(&strategy, (double)i * PERIOD_S, stress, &area))
            continue;
        counts.phases[i / 10 % 3]++;
        counts.areas[i / 10 % 3][area]++;
        counts.all++;
    }
    return counts;
}

// Within five deviations of a binomial distribution.
static void is_share(size_t hits, size_t n, double share)
{
    double wanted = (double)n * share, deviation = sqrt((double)n * share * (1 - share));
    if (fabs((double)hits - wanted) > 5 * deviation)
        fail_msg("%zu of %zu instead of %g", hits, n, wanted);
}

static void random_is_everywhere(void **state)
{
    struct counts counts = follow(STRATEGY_R, 5, 1);
    // A fault falls due between samples, and so comes half a period late.
    is_share(counts.all, SAMPLES, PERIOD_S / (5 + PERIOD_S / 2));
    for (unsigned i = 0; i < 3; i++)
        is_share(counts.phases[i], counts.all, 1 / 3.0);
    for (unsigned area = 0; area < STRESS_AREAS; area++)
        is_share(counts.areas[0][area] + counts.areas[1][area] + counts.areas[2][area], counts.all,
                 1 / 3.0);
}

static void place_is_the_most_stressed(void **state)
{
    struct counts counts = follow(STRATEGY_L, 5, 2);
    is_share(counts.phases[2], counts.all, 1 / 3.0);
    assert_int_equal(counts.areas[0][STRESS_IO], counts.phases[0]);
    assert_int_equal(counts.areas[1][STRESS_MEM], counts.phases[1]);
    assert_int_equal(counts.areas[2][STRESS_CPU], counts.phases[2]);
}

static void time_is_that_of_stress(void **state)
{
    struct counts counts = follow(STRATEGY_T, 5, 3);
    assert_int_equal(counts.phases[2], 0);
    assert_true(counts.all > 1000);
    for (unsigned area = 0; area < STRESS_AREAS; area++)
        is_share(counts.areas[0][area] + counts.areas[1][area], counts.all, 1 / 3.0);
}

static void both(void **state)
{
    struct counts counts = follow(STRATEGY_LT, 5, 4);
    assert_int_equal(counts.phases[2], 0);
    assert_int_equal(counts.areas[0][STRESS_IO], counts.phases[0]);
    assert_int_equal(counts.areas[1][STRESS_MEM], counts.phases[1]);
    assert_true(counts.phases[0] > 300 && counts.phases[1] > 300);
}

static void least(void **state)
{
    struct counts counts = follow(STRATEGY_LTLOW, 5, 5);
    assert_int_equal(counts.phases[0] + counts.phases[1], 0);
    assert_int_equal(counts.areas[2][STRESS_IO], counts.all);
    assert_true(counts.all > 300);
}

static void areas_can_be_left_out(void **state)
{
    struct strategy strategy = {.kind = STRATEGY_L, .areas = {true, true, false}, .mean_s = 1};
    double stress[STRESS_AREAS] = {0.2, 0.1, 1};
    enum stress_area area;
    strategy.random = stats_random_start(1, 0);
    strategy_start(&strategy);
    assert_true(strategy_decide(&strategy, 100, stress, &area));
    assert_int_equal(area, STRESS_CPU);
    strategy.kind = STRATEGY_LTLOW;
    strategy.threshold = 1;
    strategy.weights[2] = 0.5; // the composite is 1: not below
    assert_false(strategy_decide(&strategy, 1000, stress, &area));
    strategy.weights[0] = 0.5;
    assert_true(strategy_decide(&strategy, 1000, stress, &area));
    assert_int_equal(area, STRESS_MEM);
}

// Times between faults are exponential: the mean and the deviation are the same.
static void times_are_exponential(void **state)
{
    struct strategy strategy = {.kind = STRATEGY_R,
                                .areas = {true, true, true},
                                .mean_s = 20,
                                .random = stats_random_start(9, 0)};
    struct stats_moments moments = {0};
    double stress[STRESS_AREAS] = {0}, last = 0;
    enum stress_area area;
    strategy_start(&strategy);
    for (unsigned i = 0; i < 20000; i++) {
        double now = strategy.due_s;
        assert_true(strategy_decide(&strategy, now, stress, &area));
        assert_false(strategy_decide(&strategy, now, stress, &area));
        stats_add(&moments, now - last);
        last = now;
    }
    assert_true(fabs(moments.mean - 20) < 1);
    assert_true(fabs(moments.deviation - 20) < 1);
}

static void stress_has_a_scale(void **state)
{
    stress_samples samples = {0};
    struct stress_range range;
    double stress[STRESS_AREAS];
    struct error *error = stress_range_of(&samples, &range);
    assert_non_null(error);
    error_free(error);
    for (unsigned i = 0; i <= 100; i++) {
        struct stress_sample *sample = ARRAY_ADD(&samples);
        assert_non_null(sample);
        *sample = (struct stress_sample){.values = {(100 - i) / 100.0, i * 10.0, 7}};
    }
    assert_null(stress_range_of(&samples, &range));
    assert_true(fabs(range.low[0] - 0.05) < 1e-9 && fabs(range.high[0] - 0.95) < 1e-9);
    assert_true(fabs(range.low[1] - 50) < 1e-9 && fabs(range.high[1] - 950) < 1e-9);
    stress_normalise(&range, &(struct stress_sample){.values = {0.5, 2000, 7}}, stress);
    assert_true(fabs(stress[0] - 0.5) < 1e-9);
    assert_true(stress[1] == 1 && stress[2] == 0);
    stress_normalise(&range, &(struct stress_sample){.values = {0, 50, 100}}, stress);
    assert_true(stress[0] == 0 && stress[1] == 0 && stress[2] == 0);
    ARRAY_DEINIT(&samples);
}

// Student's own table: t of 0.975 with 9 degrees of freedom is 2.262.
static void means_have_intervals(void **state)
{
    struct stats_moments moments = {0};
    for (unsigned i = 1; i <= 10; i++)
        stats_add(&moments, i);
    struct stats_interval interval = stats_mean_interval(&moments, 0.95);
    double width = 2.262157 * 3.027650 / sqrt(10);
    assert_true(fabs(interval.low - (5.5 - width)) < 1e-5);
    assert_true(fabs(interval.high - (5.5 + width)) < 1e-5);
    moments.n = 1;
    interval = stats_mean_interval(&moments, 0.95);
    assert_true(isinf(interval.low) && isinf(interval.high));
}

// A command that prints, complains about something else each time, and changes two files, one of
// which is never the same.
static void ends_are_told_apart(void **state)
{
    struct command_change usual[] = {{"/a", 1, false}, {"/log", 2, true}};
    struct command_change other[] = {{"/a", 9, false}, {"/log", 3, false}};
    struct command_change more[] = {{"/a", 1, false}, {"/b", 1, false}, {"/log", 3, false}};
    struct command_run reference = {
        .end = SANDBOX_EXIT, .out = 5, .err = 6, .err_varies = true, .changes = {usual, 2, 2}};
    struct command_run run = reference;
    run.err = 7;
    usual[1].digest = 4;
    assert_int_equal(command_compare(&run, &reference), COMMAND_AS_BEFORE);
    run.changes.items = other;
    assert_int_equal(command_compare(&run, &reference), COMMAND_WRONG);
    run.changes.items = more;
    run.changes.count = 3;
    assert_int_equal(command_compare(&run, &reference), COMMAND_WRONG);
    run.changes.count = 1; // what varies may be missing
    assert_int_equal(command_compare(&run, &reference), COMMAND_AS_BEFORE);
    run.changes.count = 0;
    assert_int_equal(command_compare(&run, &reference), COMMAND_WRONG);
    run = reference;
    run.out = 1;
    assert_int_equal(command_compare(&run, &reference), COMMAND_WRONG);
    reference.err_varies = false;
    run.err = 7;
    assert_int_equal(command_compare(&run, &reference), COMMAND_REPORTED);
    run = reference;
    run.status = 1;
    assert_int_equal(command_compare(&run, &reference), COMMAND_REPORTED);
    run.end = SANDBOX_SIGNAL;
    assert_int_equal(command_compare(&run, &reference), COMMAND_KILLED);
    run.end = SANDBOX_TIMEOUT;
    assert_int_equal(command_compare(&run, &reference), COMMAND_HUNG);
}

static void bytes_are_those_in_use(void **state)
{
    struct stats_random random = stats_random_start(1, 0);
    uint64_t address, last = 0;
    unsigned other_pages = 0;
    for (unsigned i = 0; i < 200; i++) {
        assert_true(target_draw_byte(getpid(), &random, &address));
        // It can be written: the kernel would say so otherwise.
        struct iovec part = {(void *)(uintptr_t)address, 1};
        unsigned char byte;
        struct iovec here = {&byte, 1};
        assert_int_equal(process_vm_readv(getpid(), &here, 1, &part, 1, 0), 1);
        assert_int_equal(process_vm_writev(getpid(), &here, 1, &part, 1, 0), 1);
        other_pages += address / 4096 != last / 4096;
        last = address;
    }
    assert_true(other_pages > 100);
    assert_int_equal(target_draw_thread(getpid(), &random), getpid());
    char name[16];
    target_name(getpid(), name);
    assert_string_equal(name, "test-stress");
    // Nobody has this number.
    assert_false(target_draw_byte(INT_MAX, &random, &address));
    assert_int_equal(target_draw_thread(INT_MAX, &random), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_is_everywhere),
        cmocka_unit_test(place_is_the_most_stressed),
        cmocka_unit_test(time_is_that_of_stress),
        cmocka_unit_test(both),
        cmocka_unit_test(least),
        cmocka_unit_test(areas_can_be_left_out),
        cmocka_unit_test(times_are_exponential),
        cmocka_unit_test(stress_has_a_scale),
        cmocka_unit_test(means_have_intervals),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(bytes_are_those_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
