// SPDX-License-Identifier: GPL-3.0-or-later
// The bounds-checked reader: in bounds it reads, out of bounds it fails for good and yields zero.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cursor.h"

static const unsigned char bytes[] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 9};

static void reads_in_order(void **state)
{
    struct cursor cursor = {.data = bytes, .size = sizeof bytes};
    assert_int_equal(cursor_u32(&cursor), 1);
    assert_int_equal(cursor_u64(&cursor), 2);
    const unsigned char *rest = cursor_bytes(&cursor, 2);
    assert_ptr_equal(rest, bytes + 12);
    assert_false(cursor.failed);
    assert_non_null(cursor_bytes(&cursor, 0));
}

static void one_byte_too_many_fails(void **state)
{
    struct cursor cursor = {.data = bytes, .size = sizeof bytes, .at = 11};
    assert_int_equal(cursor_u32(&cursor), 0);
    assert_true(cursor.failed);
    assert_int_equal(cursor.at, 11);
}

static void failure_is_for_good(void **state)
{
    struct cursor cursor = {.data = bytes, .size = sizeof bytes};
    assert_null(cursor_bytes(&cursor, sizeof bytes + 1));
    assert_null(cursor_bytes(&cursor, 1));
    uint64_t target = 77;
    cursor_copy(&cursor, &target, sizeof target);
    assert_int_equal(target, 0);
}

static void huge_size_does_not_wrap(void **state)
{
    struct cursor cursor = {.data = bytes, .size = sizeof bytes, .at = 4};
    assert_null(cursor_bytes(&cursor, SIZE_MAX));
    assert_null(cursor_bytes(&cursor, SIZE_MAX - 2));
    assert_true(cursor.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_in_order),
        cmocka_unit_test(one_byte_too_many_fails),
        cmocka_unit_test(failure_is_for_good),
        cmocka_unit_test(huge_size_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
