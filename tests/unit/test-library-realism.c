// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the table of realistic errors: it is sorted, its errors exist, and it agrees with the table
// of prototypes.
#include "injectors/library/realism.h"
#include "scenario/scenario.h"
#include "scenario/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check_words(const struct realism *row, const char *list)
{
    struct realism_error error;
    const struct prototype *prototype = prototype_find(row->name);
    while (realism_next(&list, &error)) {
        if (error.size != 0) {
            const struct constant *constant = constant_find(error.name, error.size);
            assert_non_null(constant);
            assert_int_equal(constant->kind, CONSTANT_ERRNO);
        }
        // For a condition on a descriptor, the argument must be known.
        if (realism_test(error.need) != NULL) {
            assert_non_null(prototype);
            assert_non_null(strchr(prototype->arguments, PROTOTYPE_FD));
        }
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < realism_count(); i++) {
        const struct realism *row = realism_at(i);
        if (i > 0)
            assert_true(strcmp(realism_at(i - 1)->name, row->name) < 0);
        check_words(row, row->errors);
        check_words(row, row->rare);
        assert_true(row->errors[0] != '\0' || row->rare[0] != '\0');
        const struct prototype *prototype = prototype_find(row->name);
        if (prototype != NULL && prototype->failure != NULL && strchr(row->errors, '-') == NULL)
            assert_string_equal(row->result, prototype->failure);
    }
}

// Errors that must never count as realistic.
static void test_impossible(void **state)
{
    static const char *const never[] = {"EFAULT", "EBADF", "EINVAL", "ENOSYS"};
    (void)state;
    for (size_t i = 0; i < realism_count(); i++) {
        const char *list = realism_at(i)->errors;
        struct realism_error error;
        while (realism_next(&list, &error)) {
            for (size_t j = 0; j < sizeof never / sizeof *never; j++)
                assert_false(error.size == strlen(never[j]) &&
                             memcmp(error.name, never[j], error.size) == 0);
            if (error.size == 5 && memcmp(error.name, "EINTR", 5) == 0)
                assert_int_equal(error.need, REALISM_HANDLER);
        }
    }
    assert_null(strstr(realism_find("read")->errors, "ENOSPC"));
    assert_null(strstr(realism_find("fstat")->errors, "ENOENT"));
}

static void test_names(void **state)
{
    static const char *const same[][2] = {
        {"fopen64", "fopen"},
        {"__read_chk", "read"},
        {"__open64_2", "open"},
        {"putc_unlocked", "putc"},
        {"__isoc99_fscanf", "fscanf"},
        {"_IO_getc", "getc"},
        {"__overflow", "putc"},
        {"__fread_unlocked_chk", "fread"},
        {"dup2", "dup2"},
        {"__vasprintf_chk", "vasprintf"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_non_null(realism_find(same[i][0]));
        assert_string_equal(realism_find(same[i][0])->name, same[i][1]);
    }
    assert_null(realism_find("strlen"));
    assert_null(realism_find("free"));
    assert_null(realism_find("strchr"));
    assert_null(realism_find(""));
    assert_null(realism_find("__"));
    assert_true(realism_is_system("/lib/x86_64-linux-gnu/libc.so.6"));
    assert_false(realism_is_system("/lib/x86_64-linux-gnu/libcrypto.so.3"));
}

// An error with a condition has one, and the condition is one of the language of rules.
static void test_conditions(void **state)
{
    (void)state;
    for (size_t i = 0; i < realism_count(); i++) {
        const struct realism *row = realism_at(i);
        const char *list = row->errors, *condition = realism_condition(row);
        struct realism_error error;
        bool any = false;
        while (realism_next(&list, &error))
            any |= error.need == REALISM_CONDITION;
        assert_int_equal(any, condition != NULL);
        if (condition == NULL)
            continue;
        char rule[128];
        struct scenario *scenario = NULL;
        assert_null(scenario_new(&scenario));
        snprintf(rule, sizeof rule, "%s watch when %s", row->name, condition);
        assert_null(scenario_add_spec(scenario, rule));
        scenario_free(scenario);
        char text[REALISM_CONDITION_SIZE];
        assert_true(realism_put_condition(row, REALISM_CONDITION, 0, text));
        assert_string_equal(text, condition);
    }
    assert_string_equal(realism_condition(realism_find("pthread_setspecific")), "arg(1) >= 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
