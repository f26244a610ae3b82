// SPDX-License-Identifier: GPL-3.0-or-later
// Times in the forms that the system and people want.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void poll_never_waits_too_short(void **state)
{
    static const struct {
        uint64_t ns;
        int ms;
    } rows[] = {{0, 0},
                {1, 1},
                {NS_PER_MS - 1, 1},
                {NS_PER_MS, 1},
                {NS_PER_MS + 1, 2},
                {3 * NS_PER_S, 3000},
                {UINT64_MAX, INT_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(clock_poll_ms(rows[i].ns), rows[i].ms);
}

static void a_timespec_is_the_same_time(void **state)
{
    static const uint64_t times_ns[] = {0, 1, NS_PER_S - 1, NS_PER_S, 5 * NS_PER_S + 7};
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
        struct timespec time = clock_timespec(times_ns[i]);
        assert_in_range(time.tv_nsec, 0, NS_PER_S - 1);
        assert_int_equal(clock_of(&time), times_ns[i]);
    }
}

static void seconds_are_fractions(void **state)
{
    assert_true(clock_seconds(1500 * NS_PER_MS) == 1.5);
}

static void sleep_takes_its_time(void **state)
{
    uint64_t start_ns = clock_ns();
    clock_sleep(2 * NS_PER_MS);
    assert_true(clock_ns() - start_ns >= 2 * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poll_never_waits_too_short),
        cmocka_unit_test(a_timespec_is_the_same_time),
        cmocka_unit_test(seconds_are_fractions),
        cmocka_unit_test(sleep_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
