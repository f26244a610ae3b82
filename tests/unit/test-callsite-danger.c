// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of call sites is the one that docs/ordeal-callsites.1 describes; the table of
// functions that cannot fail is in order.
#include "callsite/danger.h"
#include "callsite/modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static unsigned danger(enum site_class class, enum site_use use, enum site_check check,
                       const char *name, enum site_success success)
{
    const struct site site = {.class = class, .use = use, .check = check};
    const struct site_callee callee = {.name = name, .success = success};
    return site_danger(&site, &callee);
}

static void uses_are_ranked(void **state)
{
    static const enum site_use order[] = {SITE_DEREFERENCED,     SITE_CALCULATED, SITE_PASSED,
                                          SITE_STORED_ELSEWHERE, SITE_RETURNED,   SITE_COMPARED,
                                          SITE_IGNORED};
    unsigned before = 101;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        unsigned now = danger(SITE_UNCHECKED, order[i], SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY);
        assert_true(now < before);
        before = now;
    }
    assert_int_equal(
        danger(SITE_UNCHECKED, SITE_STORED_GLOBAL, SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY),
        danger(SITE_UNCHECKED, SITE_STORED_ELSEWHERE, SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY));
    unsigned zero = danger(SITE_UNCHECKED, SITE_IGNORED, SITE_CHECK_NONE, "f", SITE_SUCCESS_ZERO);
    assert_true(zero < before);
    assert_true(danger(SITE_UNCHECKED, SITE_IGNORED, SITE_CHECK_NONE, "close", SITE_SUCCESS_ZERO) <
                zero);
}

static void what_is_ignored_may_be_harmless(void **state)
{
    const struct site_callee close = {.name = "fclose"}, lock = {.name = "pthread_mutex_lock"};
    const struct site_callee write = {.name = "fwrite"};
    struct site site = {.class = SITE_UNCHECKED, .use = SITE_IGNORED};
    assert_true(site_is_harmless(&site, &close));
    assert_true(site_is_harmless(&site, &lock));
    assert_false(site_is_harmless(&site, &write));
    site.use = SITE_PASSED;
    assert_false(site_is_harmless(&site, &close));
    site = (struct site){.class = SITE_PARTLY, .use = SITE_IGNORED};
    assert_false(site_is_harmless(&site, &close));
}

static void classes_are_ranked(void **state)
{
    unsigned unchecked =
        danger(SITE_UNCHECKED, SITE_PASSED, SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY);
    unsigned partly = danger(SITE_PARTLY, SITE_PASSED, SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY);
    unsigned late = danger(SITE_CHECKED, SITE_PASSED, SITE_CHECK_AFTER, "f", SITE_SUCCESS_ANY);
    unsigned some = danger(SITE_CHECKED, SITE_PASSED, SITE_CHECK_SOME, "f", SITE_SUCCESS_ANY);
    unsigned unknown = danger(SITE_UNKNOWN, SITE_PASSED, SITE_CHECK_NONE, "f", SITE_SUCCESS_ANY);
    assert_int_equal(unchecked, partly + 15);
    assert_int_equal(late, unchecked / 2);
    assert_int_equal(some, late);
    assert_true(unknown < late && unknown > 0);
    assert_int_equal(danger(SITE_CHECKED, SITE_PASSED, SITE_CHECK_BEFORE, "f", SITE_SUCCESS_ANY),
                     0);
}

static void check_sorted(const char *const *names, size_t count)
{
    assert_true(count > 10);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
}

static void tables_are_sorted(void **state)
{
    size_t count = 0;
    const char *const *names = callsite_never_failing(&count);
    check_sorted(names, count);
    names = callsite_ending_without_memory(&count);
    check_sorted(names, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_ranked),
        cmocka_unit_test(what_is_ignored_may_be_harmless),
        cmocka_unit_test(classes_are_ranked),
        cmocka_unit_test(tables_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
