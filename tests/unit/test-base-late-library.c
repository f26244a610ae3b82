// SPDX-License-Identifier: GPL-3.0-or-later
// Libraries that are loaded late: there, not there, and without a function.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/late-library.h"

#include <gnu/lib-names.h>
#include <string.h>

static double (*square_root)(double);
static void *nothing;

static void functions_are_there_once_it_is_loaded(void **state)
{
    static const struct late_function names[] = {{"sqrt", &square_root}};
    static struct late_library library = LATE_LIBRARY(names);
    assert_false(late_library_is_ready(&library));
    assert_null(late_library_need(&library, LIBM_SO));
    assert_true(late_library_is_ready(&library));
    assert_true(square_root(9) == 3);
    assert_null(late_library_need(&library, "is not looked at again"));
}

static void a_missing_library_is_named_and_tried_again(void **state)
{
    static const struct late_function names[] = {{"sqrt", &square_root}};
    static struct late_library library = LATE_LIBRARY(names);
    struct error *error = late_library_need(&library, "libnonexistent.so.1");
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "libnonexistent.so.1"));
    error_free(error);
    assert_false(late_library_is_ready(&library));
    assert_null(late_library_need(&library, LIBM_SO));
}

static void a_missing_function_is_named(void **state)
{
    static const struct late_function names[] = {{"sqrt", &square_root}, {"no_such", &nothing}};
    static struct late_library library = LATE_LIBRARY(names);
    struct error *error = late_library_need(&library, LIBM_SO);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "no_such"));
    error_free(error);
    assert_false(late_library_is_ready(&library));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_there_once_it_is_loaded),
        cmocka_unit_test(a_missing_library_is_named_and_tried_again),
        cmocka_unit_test(a_missing_function_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
