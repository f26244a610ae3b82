// SPDX-License-Identifier: GPL-3.0-or-later
// How times are written that a user is to give to a command.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"

// Times that are suggested are enough, and those of commands to be copied are not more.
static void test_durations(void **state)
{
    static const struct {
        uint64_t ns;
        const char *enough, *patience;
    } rows[] = {
        {1, "1ms", "1us"},
        {1500, "1ms", "1us"},
        {125000000, "200ms", "125ms"},
        {500000001, "1s", "500ms"},
        {2000000000, "2s", "2"},
        {2345678901, "3s", "2345ms"},
        {31000000000, "50s", "31"},
        {59000000000, "1m", "59"},
        {200000000000, "5m", "200"},
        {UINT64_MAX, "500000000m", "18446744073"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer enough = {0}, patience = {0};
        assert_null(duration_put_enough(&enough, rows[i].ns));
        assert_null(duration_put_patience(&patience, rows[i].ns));
        assert_string_equal(enough.data, rows[i].enough);
        assert_string_equal(patience.data, rows[i].patience);
        buffer_deinit(&enough);
        buffer_deinit(&patience);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_durations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
