// SPDX-License-Identifier: GPL-3.0-or-later
// Growable arrays and byte buffers, and files read into them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void good(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

struct pair {
    long a, b;
};

static void elements_start_zeroed_and_stay(void **state)
{
    ARRAY(struct pair) array = {0};
    for (long i = 0; i < 1000; i++) {
        struct pair *item = ARRAY_ADD(&array);
        assert_non_null(item);
        assert_int_equal(item->a, 0);
        assert_int_equal(item->b, 0);
        item->a = i;
        item->b = -i;
    }
    assert_int_equal(array.count, 1000);
    for (long i = 0; i < 1000; i++) {
        assert_int_equal(array.items[i].a, i);
        assert_int_equal(array.items[i].b, -i);
    }
    ARRAY_DEINIT(&array);
    assert_null(array.items);
    assert_int_equal(array.count, 0);
}

static void many_are_added_at_once(void **state)
{
    ARRAY(int) numbers = {0};
    assert_non_null(ARRAY_ADD_MANY(&numbers, 0));
    assert_int_equal(numbers.count, 0);
    for (int i = 0; i < 100; i++) {
        int *first = ARRAY_ADD_MANY(&numbers, (size_t)i);
        assert_non_null(first);
        for (int j = 0; j < i; j++)
            first[j] = i;
    }
    assert_int_equal(numbers.count, 99 * 100 / 2);
    assert_int_equal(numbers.items[0], 1);
    assert_int_equal(numbers.items[99 * 100 / 2 - 1], 99);
    assert_null(ARRAY_ADD_MANY(&numbers, SIZE_MAX / sizeof(int)));
    assert_null(ARRAY_ADD_MANY(&numbers, SIZE_MAX));
    assert_int_equal(numbers.count, 99 * 100 / 2);
    ARRAY_DEINIT(&numbers);
}

static void impossible_size_is_refused(void **state)
{
    void *items = NULL;
    size_t count = SIZE_MAX / 4, room = SIZE_MAX / 4;
    assert_null(array_add(&items, &count, &room, 64));
    assert_int_equal(count, SIZE_MAX / 4);
}

static void buffer_always_ends_in_nul(void **state)
{
    _cleanup_(buffer_deinit) struct buffer buffer = {0};
    good(buffer_append(&buffer, "", 0));
    assert_string_equal(buffer.data, "");
    for (int i = 0; i < 300; i++)
        good(buffer_append(&buffer, "ab", 2));
    assert_int_equal(buffer.size, 600);
    assert_int_equal(strlen(buffer.data), 600);
    good(buffer_printf(&buffer, "%05d|%s", 42, "end"));
    assert_string_equal(buffer.data + 600, "00042|end");
}

static void buffer_refuses_to_wrap_around(void **state)
{
    struct buffer buffer = {.size = 100};
    struct error *error = buffer_append(&buffer, "x", SIZE_MAX - 50);
    assert_non_null(error);
    assert_string_equal(error_message(error), "out of memory");
    error_free(error);
}

static void alignment_pads_with_zeros(void **state)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        _cleanup_(buffer_deinit) struct buffer buffer = {0};
        good(buffer_append(&buffer, "x", 1));
        good(buffer_align(&buffer, alignment));
        assert_int_equal(buffer.size, alignment);
        for (size_t i = 1; i < alignment; i++)
            assert_int_equal(buffer.data[i], 0);
        good(buffer_align(&buffer, alignment));
        assert_int_equal(buffer.size, alignment);
    }
}

static void whole_file_is_read(void **state)
{
    char path[] = "/tmp/ordeal-unit-XXXXXX";
    _cleanup_close_ int file = mkstemp(path);
    assert_true(file >= 0);
    enum { SIZE = 200000 };
    _cleanup_free_ char *text = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)(i * 7);
    assert_int_equal(write(file, text, SIZE), SIZE);

    _cleanup_(buffer_deinit) struct buffer buffer = {0};
    good(buffer_read_file(path, SIZE, &buffer));
    assert_int_equal(buffer.size, SIZE);
    assert_memory_equal(buffer.data, text, SIZE);

    struct buffer untouched = {0};
    struct error *error = buffer_read_file(path, SIZE - 1, &untouched);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "is larger than 199999 bytes"));
    assert_null(untouched.data);
    error_free(error);
    unlink(path);
}

static void unreadable_files_are_named(void **state)
{
    struct buffer buffer = {0};
    struct error *error = buffer_read_file("/nonexistent/file", 10, &buffer);
    assert_string_equal(error_message(error),
                        "cannot read /nonexistent/file: No such file or directory");
    error_free(error);
    error = buffer_read_file("/", 10, &buffer);
    assert_string_equal(error_message(error), "cannot read /: Is a directory");
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_start_zeroed_and_stay),
        cmocka_unit_test(many_are_added_at_once),
        cmocka_unit_test(impossible_size_is_refused),
        cmocka_unit_test(buffer_always_ends_in_nul),
        cmocka_unit_test(buffer_refuses_to_wrap_around),
        cmocka_unit_test(alignment_pads_with_zeros),
        cmocka_unit_test(whole_file_is_read),
        cmocka_unit_test(unreadable_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
