// SPDX-License-Identifier: GPL-3.0-or-later
// Error objects: their texts, their ownership, the caret under the offending byte.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

static void says(struct error *error, const char *expected)
{
    assert_non_null(error);
    assert_string_equal(error_message(error), expected);
    error_free(error);
}

static void plain_text_is_formatted(void **state)
{
    says(error_new("%s has %d heads", "hydra", 9), "hydra has 9 heads");
}

static void errno_is_spelled_out(void **state)
{
    says(error_from_errno(ENOENT, "cannot read %s", "x.yaml"),
         "cannot read x.yaml: No such file or directory");
}

static void prefix_goes_in_front(void **state)
{
    says(error_prefix(error_new("inner"), "file %d", 3), "file 3: inner");
    says(error_prefix(error_no_memory(), "rule"), "rule: out of memory");
}

static void caret_points_at_the_byte(void **state)
{
    const char *text = "first line\nread=oops\nlast";
    const char *oops = strstr(text, "oops");
    says(error_at("s.yaml", text, strlen(text), (unsigned long)(oops - text), 1, "no such value"),
         "s.yaml:2:6: no such value\n    read=oops\n         ^");
}

static void caret_keeps_tabs(void **state)
{
    says(error_at("f", "\tx", 2, 1, 10, "bad"), "f:10:2: bad\n    \tx\n    \t^");
}

static void offset_past_the_end_is_the_end(void **state)
{
    says(error_at("f", "ab", 2, 99, 1, "unfinished"), "f:1:3: unfinished\n    ab\n      ^");
    says(error_at("f", "", 0, 0, 1, "empty"), "f:1:1: empty\n    \n    ^");
}

static void megabyte_line_is_cut(void **state)
{
    enum { SIZE = 1 << 20 };
    _cleanup_free_ char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'x', SIZE);
    text[SIZE / 2] = '!';
    struct error *error = error_at("f", text, SIZE, SIZE / 2, 1, "bad byte");
    assert_true(strlen(error_message(error)) < 1000);
    const char *bang = strchr(error_message(error), '!');
    const char *caret = strchr(error_message(error), '^');
    assert_non_null(bang);
    assert_non_null(caret);
    const char *line = memrchr(error_message(error), '\n', strlen(error_message(error)));
    const char *shown = strchr(error_message(error), '\n');
    assert_int_equal(bang - shown, caret - line);
    error_free(error);
}

static void no_memory_may_be_freed_again_and_again(void **state)
{
    error_free(error_no_memory());
    error_free(error_no_memory());
    error_free(NULL);
    assert_string_equal(error_message(error_no_memory()), "out of memory");
}

static struct error *fails(void)
{
    return error_new("inner failure");
}
static struct error *tries(int *ret_reached)
{
    TRY(NULL);
    *ret_reached = 1;
    TRY(fails());
    *ret_reached = 2;
    return NULL;
}
static void try_returns_the_error(void **state)
{
    int reached = 0;
    says(tries(&reached), "inner failure");
    assert_int_equal(reached, 1);
}

static void take_leaves_nothing_behind(void **state)
{
    char *text = strdup("given away");
    _cleanup_free_ char *owner = text;
    char *heir = TAKE(owner);
    assert_null(owner);
    assert_ptr_equal(heir, text);
    free(heir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_formatted),
        cmocka_unit_test(errno_is_spelled_out),
        cmocka_unit_test(prefix_goes_in_front),
        cmocka_unit_test(caret_points_at_the_byte),
        cmocka_unit_test(caret_keeps_tabs),
        cmocka_unit_test(offset_past_the_end_is_the_end),
        cmocka_unit_test(megabyte_line_is_cut),
        cmocka_unit_test(no_memory_may_be_freed_again_and_again),
        cmocka_unit_test(try_returns_the_error),
        cmocka_unit_test(take_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
