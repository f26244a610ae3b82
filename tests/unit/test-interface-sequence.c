// SPDX-License-Identifier: GPL-3.0-or-later
// The alignment of two rows against the textbook's table, for random rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interface/sequence.h"

static size_t table_length(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t table[41][41] = {0};
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t up = table[i - 1][j], left = table[i][j - 1];
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : up > left ? up : left;
        }
    return table[n][m];
}

// Checks that what is common is the same in both rows, and says how much it is.
static size_t common_length(const struct sequence *a, const struct sequence *b)
{
    size_t length = 0, j = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!a->is_common[i])
            continue;
        while (j < b->count && !b->is_common[j])
            j++;
        assert_true(j < b->count);
        assert_int_equal(a->words[i], b->words[j]);
        j++;
        length++;
    }
    for (; j < b->count; j++)
        assert_false(b->is_common[j]);
    return length;
}

static void test_random(void **state)
{
    uint32_t random = 1;
    for (unsigned round = 0; round < 5000; round++) {
        uint64_t words[2][40];
        bool common[2][40] = {0};
        size_t counts[2];
        for (unsigned side = 0; side < 2; side++) {
            random = random * 1664525 + 1013904223;
            counts[side] = (random >> 8) % 41;
            for (size_t i = 0; i < counts[side]; i++) {
                random = random * 1664525 + 1013904223;
                words[side][i] = (random >> 16) % (2 + round % 7);
            }
        }
        struct sequence a = {words[0], counts[0], common[0]}, b = {words[1], counts[1], common[1]};
        bool exact;
        assert_null(sequence_compare(&a, &b, UINT64_MAX, &exact));
        assert_true(exact);
        assert_int_equal(common_length(&a, &b),
                         table_length(words[0], counts[0], words[1], counts[1]));
    }
}

static void test_effort(void **state)
{
    enum { COUNT = 2000 };
    static uint64_t words[2][COUNT];
    static bool common[2][COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        words[0][i] = i;
        words[1][i] = i < 10 ? i : COUNT + i;
    }
    struct sequence a = {words[0], COUNT, common[0]}, b = {words[1], COUNT, common[1]};
    bool exact;
    assert_null(sequence_compare(&a, &b, 1000, &exact));
    assert_false(exact);
    assert_int_equal(common_length(&a, &b), 10); // the common beginning needs no effort
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_effort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
