// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals against an array with one number for each address.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interface/intervals.h"

enum { SPACE = 300 };

static void test_random(void **state)
{
    struct intervals intervals = {0};
    uint32_t owners[SPACE] = {0}, random = 7;
    for (uint32_t round = 1; round < 3000; round++) {
        random = random * 1664525 + 1013904223;
        uint64_t start = (random >> 8) % SPACE, end = start + (random >> 20) % 40;
        end = end < SPACE ? end : SPACE;
        bool cuts = round % 3 == 0;
        assert_null(cuts ? intervals_cut(&intervals, start, end)
                         : intervals_put(&intervals, start, end, round));
        for (uint64_t i = start; i < end; i++)
            owners[i] = cuts ? 0 : round;
        for (uint64_t i = 0; i < SPACE; i++) {
            const struct interval *found = intervals_find(&intervals, i);
            assert_int_equal(found == NULL ? 0 : found->area, owners[i]);
            uint64_t next = i;
            while (next < SPACE && owners[next] == 0)
                next++;
            const struct interval *above = intervals_above(&intervals, i);
            assert_int_equal(above == NULL ? 0 : above->area, next == SPACE ? 0 : owners[next]);
        }
    }
    intervals_deinit(&intervals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
