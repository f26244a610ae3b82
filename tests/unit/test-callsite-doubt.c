// SPDX-License-Identifier: GPL-3.0-or-later
// Which unchecked calls are unknown because it is doubtful that the function fails.
#include "callsite/doubt.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct doubted {
    struct site_callee callee;
    struct site sites[4];
    size_t count;
};

// How many calls are unchecked afterwards.
static unsigned unchecked(struct doubted doubted)
{
    unsigned count = 0;
    struct sites sites = {
        .callees = {.items = &doubted.callee, .count = 1},
        .items = {.items = doubted.sites, .count = doubted.count},
    };
    assert_null(doubt_guesses(&sites));
    for (size_t i = 0; i < doubted.count; i++) {
        const struct site *site = &doubted.sites[i];
        assert_int_equal(site->class == SITE_UNKNOWN, site->reason != NULL);
        count += site->class == SITE_UNCHECKED;
    }
    return count;
}

#define IGNORED                                                                                    \
    {                                                                                              \
        .class = SITE_UNCHECKED, .use = SITE_IGNORED                                               \
    }
#define USED                                                                                       \
    {                                                                                              \
        .class = SITE_UNCHECKED, .use = SITE_PASSED                                                \
    }
#define CHECKED                                                                                    \
    {                                                                                              \
        .class = SITE_CHECKED, .use = SITE_CHECKED_FIRST                                           \
    }

static const struct site_callee certain = {.name = "f", .count = 1, .codes = {-1}};
static const struct site_callee zero = {.name = "f", .count = 1, .codes = {0}};
static const struct site_callee guessed = {.name = "f", .count = 1, .codes = {-1}, .guessed = true};
static const struct site_callee pointer = {
    .name = "f", .count = 1, .success = SITE_SUCCESS_POINTER, .guessed = true};
static const struct site_callee of_c = {
    .name = "f", .version = "GLIBC_2.2.5", .count = 1, .success = SITE_SUCCESS_POINTER};

static void certain_failures_are_believed(void **state)
{
    assert_int_equal(unchecked((struct doubted){certain, {IGNORED, USED}, 2}), 2);
}

static void results_that_nobody_uses_may_be_none(void **state)
{
    assert_int_equal(unchecked((struct doubted){zero, {IGNORED, IGNORED}, 2}), 0);
    assert_int_equal(unchecked((struct doubted){zero, {IGNORED, USED}, 2}), 2);
    assert_int_equal(unchecked((struct doubted){of_c, {IGNORED, IGNORED}, 2}), 2);
}

static void the_end_is_no_failure(void **state)
{
    struct site_callee next = certain;
    next.name = "things_next";
    assert_int_equal(unchecked((struct doubted){next, {IGNORED, USED}, 2}), 1);
}

static void guesses_need_a_check(void **state)
{
    assert_int_equal(unchecked((struct doubted){guessed, {IGNORED, USED}, 2}), 0);
    assert_int_equal(unchecked((struct doubted){guessed, {IGNORED, USED, USED, CHECKED}, 4}), 3);
}

static void guessed_pointers_need_many(void **state)
{
    assert_int_equal(unchecked((struct doubted){pointer, {USED, USED, CHECKED}, 3}), 0);
    assert_int_equal(unchecked((struct doubted){pointer, {USED, IGNORED, CHECKED}, 3}), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_failures_are_believed),
        cmocka_unit_test(results_that_nobody_uses_may_be_none),
        cmocka_unit_test(the_end_is_no_failure),
        cmocka_unit_test(guesses_need_a_check),
        cmocka_unit_test(guessed_pointers_need_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
