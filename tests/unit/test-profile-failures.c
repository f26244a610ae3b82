// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the ways a function can come back count as failures, and how surely.
#include "profile/failures.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OTHER  INT64_MIN // a result that is not a constant
#define MADE   HINT_MADE // the function has a result of its own
#define ACTING (HINT_MADE | HINT_ACTS)

struct wanted {
    int64_t result;
    int error; // 0: none is set
};

static void add(struct summary *summary, int64_t result, int error)
{
    struct return_outcome way = {0};
    if (result != OTHER)
        way.result = (struct value){.kind = VALUE_CONSTANT, .number = result};
    way.sets_error = error != 0;
    if (error != 0)
        way.error = (struct value){.kind = VALUE_CONSTANT, .number = error};
    assert_null(summary_add(summary, &way));
}

// The confidence that `result` is a failure of a function with these ways.
static unsigned confidence_of(const char *name, unsigned hints, const struct wanted *ways,
                              size_t count, int64_t result)
{
    _cleanup_(summary_deinit) struct summary summary = {0};
    _cleanup_(failures_deinit) struct failures failures = {0};
    unsigned best = 0;
    for (size_t i = 0; i < count; i++)
        add(&summary, ways[i].result, ways[i].error);
    assert_null(failures_of(&summary, hints, name, &failures));
    assert_null(failures.unknown);
    for (size_t i = 0; i < failures.items.count; i++) {
        const struct failure *failure = &failures.items.items[i];
        if (i != 0)
            assert_true(failure->confidence <= failures.items.items[i - 1].confidence);
        assert_true(failure->confidence <= 100);
        assert_non_null(failure_reason_text(failure->reason));
        if (failure->result.number == result && failure->confidence > best)
            best = failure->confidence;
    }
    return best;
}

#define WAYS(...)                                                                                  \
    (const struct wanted[]){__VA_ARGS__},                                                          \
        sizeof((struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted)
#define assert_likely(...)   assert_true(confidence_of(__VA_ARGS__) >= FAILURE_LIKELY)
#define assert_unlikely(...) assert_true(confidence_of(__VA_ARGS__) < FAILURE_LIKELY)
#define assert_success(...)  assert_int_equal(confidence_of(__VA_ARGS__), 0)

static void test_errno(void **state)
{
    assert_true(confidence_of("f", MADE, WAYS({-1, EBADF}, {0, 0}), -1) >= 90);
    assert_success("f", MADE, WAYS({-1, EBADF}, {0, 0}), 0);
    // errno that was touched on the way to a success
    assert_success("f", MADE, WAYS({-1, EBADF}, {0, ENOENT}), 0);
    // Clearing errno is no error.
    _cleanup_(summary_deinit) struct summary summary = {0};
    _cleanup_(failures_deinit) struct failures failures = {0};
    struct return_outcome way = {.result = {.kind = VALUE_CONSTANT, .number = -1},
                                 .sets_error = true,
                                 .error = {.kind = VALUE_CONSTANT}};
    assert_null(summary_add(&summary, &way));
    assert_null(failures_of(&summary, MADE, "f", &failures));
    assert_int_equal(failures.items.count, 1);
    assert_false(failures.items.items[0].sets_error);
}

static void test_negative(void **state)
{
    assert_likely("f", MADE, WAYS({-1, 0}, {0, 0}), -1);
    assert_likely("f", MADE, WAYS({-65540, 0}, {OTHER, 0}), -65540);
    assert_unlikely("f", MADE, WAYS({INT32_MIN, 0}, {OTHER, 0}), INT32_MIN);
    assert_success("f", MADE, WAYS({-1, 0}, {1, 0}, {0, 0}), 1);
    assert_unlikely("strcasecmp", MADE, WAYS({-1, 0}, {0, 0}, {1, 0}), -1);
    assert_unlikely("compareThings", MADE, WAYS({-1, 0}, {OTHER, 0}), -1);
}

static void test_pointers(void **state)
{
    assert_true(confidence_of("f", MADE | HINT_DEREFERENCED, WAYS({0, 0}, {OTHER, 0}), 0) >= 80);
    assert_likely("f", MADE | HINT_WIDE, WAYS({0, ENOMEM}, {OTHER, 0}), 0);
    assert_unlikely("f", MADE | HINT_NARROW | HINT_USED, WAYS({0, 0}, {OTHER, 0}), 0);
    assert_likely("f", MADE | HINT_MADE_POINTER, WAYS({-1, EINVAL}, {OTHER, 0}), -1);
    assert_success("f", MADE | HINT_DEREFERENCED, WAYS({8, 0}, {OTHER, 0}), 8);
}

static void test_codes(void **state)
{
    assert_likely("f", MADE, WAYS({0, 0}, {22, 0}), 22);
    assert_success("f", MADE, WAYS({0, 0}, {22, 0}), 0);
    assert_likely("f", MADE | HINT_WORKS, WAYS({7, 0}, {25, 0}, {OTHER, 0}), 25);
    assert_unlikely("f", MADE, WAYS({7, 0}, {25, 0}, {OTHER, 0}), 25);   // it only maps numbers
    assert_unlikely("f", MADE, WAYS({1, 0}, {2, 0}, {3, 0}, {4, 0}), 3); // an enumeration
    assert_unlikely("f", MADE, WAYS({0, 0}, {100000, 0}), 100000);
}

static void test_truth(void **state)
{
    assert_likely("set_thing", ACTING, WAYS({0, 0}, {1, 0}), 0);
    assert_success("set_thing", ACTING, WAYS({0, 0}, {1, 0}), 1);
    assert_unlikely("look", MADE, WAYS({0, 0}, {1, 0}), 0); // does nothing but look
    static const char *const questions[] = {"isalpha",      "xmlUCSIsCatC", "SSL_is_server",
                                            "thing_has_it", "nodesEqual",   "is_open"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_unlikely(questions[i], ACTING, WAYS({0, 0}, {1, 0}), 0);
    // Words that only begin like one.
    assert_likely("list_add", ACTING, WAYS({0, 0}, {1, 0}), 0);
    assert_likely("thing_put_hash", ACTING, WAYS({0, 0}, {1, 0}), 0);
}

static void test_without_result(void **state)
{
    assert_unlikely("f", 0, WAYS({-1, EBADF}, {OTHER, 0}), -1);
    assert_unlikely("f", HINT_LEFTOVER, WAYS({-1, 0}, {OTHER, 0}), -1);
    assert_likely("f", HINT_PASSED, WAYS({-1, EBADF}, {OTHER, 0}), -1);
    assert_likely("f", HINT_PASSED | HINT_USED, WAYS({-1, 0}, {OTHER, 0}), -1);
    assert_true(hints_say_void(HINT_CALLED));
    assert_false(hints_say_void(HINT_CALLED | HINT_USED));
    assert_false(hints_say_void(HINT_MADE));
}

static void test_unknown(void **state)
{
    _cleanup_(failures_deinit) struct failures nothing = {0}, cut = {0}, stops = {0};
    const struct summary empty = {0}, too_much = {.cut = true};
    assert_null(failures_of(NULL, 0, "f", &nothing));
    assert_non_null(nothing.unknown);
    assert_null(failures_of(&too_much, 0, "f", &cut));
    assert_string_equal(cut.unknown, "too much to look at");
    assert_true(cut.cut);
    assert_null(failures_of(&empty, HINT_STOPS, "abort", &stops));
    assert_null(stops.unknown);
    assert_int_equal(stops.items.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errno),    cmocka_unit_test(test_negative),
        cmocka_unit_test(test_pointers), cmocka_unit_test(test_codes),
        cmocka_unit_test(test_truth),    cmocka_unit_test(test_without_result),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
