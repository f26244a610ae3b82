// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the table of realistic errors: it is sorted, its errors exist, and it agrees with the table
// of prototypes.
#include "injector/realism.h"
#include "scenario/scenario.h"
#include "scenario/tables.h"
#include "wire/traits.h"

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
            any |= error.conditional;
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
        const struct realism_error conditional = {.conditional = true};
        assert_true(realism_put_condition(row, &conditional, 0, text));
        assert_string_equal(text, condition);
        const struct realism_error both = {.conditional = true, .need = REALISM_SOCKET};
        assert_true(realism_put_condition(row, &both, 1, text));
        assert_memory_equal(text, "fd(1).socket and ", 17);
        assert_string_equal(text + 17, condition);
        const struct realism_error other = {.need = REALISM_HANDLER};
        assert_false(realism_put_condition(row, &other, 1, text));
    }
    assert_string_equal(realism_condition(realism_find("pthread_setspecific")),
                        "arg(1) >= 32 and arg(2) != 0");
}

// Words of the table, taken apart.
static void test_words(void **state)
{
    (void)state;
    const char *list = "file:lasting:EIO handler:if:EINTR stream:ENOSPC below:ENOSPC if:-";
    static const struct {
        enum realism_need need;
        bool lasting, conditional;
        size_t size;
    } wanted[] = {{REALISM_FILE, true, false, 3},
                  {REALISM_HANDLER, false, true, 5},
                  {REALISM_STREAM, false, false, 6},
                  {REALISM_BELOW, false, false, 6},
                  {REALISM_NOTHING, false, true, 0}};
    struct realism_error error;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(realism_next(&list, &error));
        assert_int_equal(error.need, wanted[i].need);
        assert_int_equal(error.lasting, wanted[i].lasting);
        assert_int_equal(error.conditional, wanted[i].conditional);
        assert_int_equal(error.size, wanted[i].size);
    }
    assert_false(realism_next(&list, &error));
}

// A call into a stream's buffer has no errors of its own, and the write below it has.
static void test_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < realism_count(); i++) {
        const struct realism *row = realism_at(i);
        const struct wire_traits *traits = wire_traits_find(row->name);
        bool reads =
            traits != NULL && (traits->flags & (WIRE_TRAIT_END_IS_0 | WIRE_TRAIT_END_IS_EOF)) != 0;
        const char *list = row->errors;
        struct realism_error error;
        bool buffered = wire_traits_stream(traits) != 0 && !reads &&
                        strcmp(row->name, REALISM_STREAM_WRITE) != 0;
        while (realism_next(&list, &error))
            assert_int_equal(error.need == REALISM_STREAM || error.need == REALISM_BELOW, buffered);
    }
    assert_true(realism_happens(REALISM_STREAM_WRITE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_names), cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_words), cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
