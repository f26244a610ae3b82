// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of facts: in order, without doubles, true where the system can tell, and in use.
#include "observe/linux-calls.h"
#include "scenario-help.h"
#include "scenario/tables.h"
#include "scenario/trigger.h"
#include "wire/traits.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>

static void test_constants(void **state)
{
    assert_true(constant_count() > 400);
    for (size_t i = 0; i < constant_count(); i++) {
        const struct constant *constant = constant_at(i);
        if (i > 0)
            assert_true(strcmp(constant_at(i - 1)->name, constant->name) < 0);
        assert_ptr_equal(constant_find(constant->name, strlen(constant->name)), constant);
    }
    assert_null(constant_find("EI", 2));
    assert_null(constant_find("EIOO", 4));
    assert_non_null(constant_find("EIOO", 3));
    assert_null(constant_find("", 0));
}

static void test_errnos_and_signals(void **state)
{
    // Every errno and signal that the C library knows by name is in the table, and the other way
    // round.
    for (int i = 1; i < 134; i++) {
        const char *name = strerrorname_np(i);
        if (name == NULL)
            continue;
        const struct constant *constant = constant_find(name, strlen(name));
        if (constant == NULL)
            fail_msg("%s is missing", name);
        assert_int_equal(constant->kind, CONSTANT_ERRNO);
        assert_int_equal(constant->value, i);
        assert_non_null(constant_name(CONSTANT_ERRNO, i));
    }
    for (int i = 1; i < 32; i++) {
        const char *name = sigabbrev_np(i);
        char full[32];
        if (name == NULL)
            continue;
        snprintf(full, sizeof full, "SIG%s", name);
        const struct constant *constant = constant_find(full, strlen(full));
        if (constant == NULL)
            fail_msg("%s is missing", full);
        assert_int_equal(constant->value, i);
    }
    for (size_t i = 0; i < constant_count(); i++)
        if (constant_at(i)->kind == CONSTANT_ERRNO)
            assert_non_null(strerrorname_np((int)constant_at(i)->value));
    assert_string_equal(constant_name(CONSTANT_ERRNO, EAGAIN), "EAGAIN");
    assert_string_equal(constant_name(CONSTANT_ERRNO, EDEADLK), "EDEADLK");
    assert_string_equal(constant_name(CONSTANT_ERRNO, EOPNOTSUPP), "EOPNOTSUPP");
    assert_string_equal(constant_name(CONSTANT_SIGNAL, SIGABRT), "SIGABRT");
    assert_string_equal(constant_name(CONSTANT_SIGNAL, SIGCHLD), "SIGCHLD");
    assert_null(constant_name(CONSTANT_ERRNO, 4000));
}

static void test_prototypes(void **state)
{
    assert_true(prototype_count() >= 200);
    size_t shortened = 0;
    for (size_t i = 0; i < prototype_count(); i++) {
        const struct prototype *prototype = prototype_at(i);
        if (i > 0)
            assert_true(strcmp(prototype_at(i - 1)->name, prototype->name) < 0);
        assert_ptr_equal(prototype_find(prototype->name), prototype);
        assert_true(strlen(prototype->arguments) <= WIRE_ARGUMENTS);
        if (prototype->arguments[strspn(prototype->arguments, "iulzfps*")] != '\0')
            fail_msg("%s: unknown letter in '%s'", prototype->name, prototype->arguments);
        if (dlsym(RTLD_DEFAULT, prototype->name) == NULL)
            fail_msg("the C library has no %s", prototype->name);
        for (unsigned n = 1; n <= strlen(prototype->arguments); n++)
            assert_string_not_equal(prototype_kind_text(prototype_argument(prototype, n)),
                                    "unknown");
        if (prototype->count == 0)
            continue;
        // What `short` reduces must be a number.
        shortened++;
        char kind = prototype_argument(prototype, prototype->count);
        if (kind == 0 || strchr("iulz", kind) == NULL)
            fail_msg("%s: argument %u is no length", prototype->name, prototype->count);
    }
    assert_true(shortened >= 25);
    assert_null(prototype_find("no_such_function"));
    assert_int_equal(prototype_argument(prototype_find("read"), 4), 0);
    assert_int_equal(prototype_argument(NULL, 1), 0);
    assert_string_equal(prototype_kind_text('?'), "unknown");
}

// What a function returns when it fails is a value of the language, of the width of its result.
static void test_failures(void **state)
{
    static const struct {
        const char *pattern, *failure;
    } cases[] = {
        {"read", "-1"},        {"malloc", "NULL"},
        {"opendir", "NULL"},   {"fread", "0"},
        {"fputs", "EOF"},      {"mmap", "MAP_FAILED"},
        {"signal", "SIG_ERR"}, {"getaddrinfo", "EAI_SYSTEM"},
        {"f*printf", "-1"},    {"*dir", NULL},
    };
    for (size_t i = 0; i < prototype_count(); i++) {
        const struct prototype *prototype = prototype_at(i);
        const char *failure = prototype->failure, *found;
        assert_true(prototype_failure(prototype->name, &found));
        assert_ptr_equal(found, failure);
        bool is_errno = strncmp(prototype->name, "pthread_", 8) == 0 ||
                        strncmp(prototype->name, "posix_", 6) == 0;
        if (is_errno)
            assert_ptr_equal(failure, PROTOTYPE_ERRNO);
        if (failure == NULL || failure == PROTOTYPE_ERRNO)
            continue;
        if (constant_find(failure, strlen(failure)) == NULL && strcmp(failure, "-1") != 0 &&
            strcmp(failure, "0") != 0)
            fail_msg("%s fails with '%s'", prototype->name, failure);
        assert_true(prototype_failure_value(failure, 5) <= 0);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *found = "";
        bool same = prototype_failure(cases[i].pattern, &found);
        assert_int_equal(same, cases[i].failure != NULL);
        if (same)
            assert_string_equal(found, cases[i].failure);
    }
    const char *found = "";
    assert_true(prototype_failure("no_such_function", &found));
    assert_null(found);
    assert_true(prototype_failure("getpid", &found));
    assert_null(found);
    assert_true(prototype_failure("pthread_no_such", &found));
    assert_int_equal(prototype_failure_value(found, 11), 11);
}

static void test_misfits(void **state)
{
    static const struct {
        const char *function, *expected;
        int64_t value;
    } cases[] = {
        {"opendir", "NULL", -1},
        {"malloc", "NULL", -1},
        {"malloc", "NULL", 8},
        {"malloc", NULL, 0},
        {"malloc", NULL, 0x7f0012345678},
        {"mmap", "MAP_FAILED", 0},
        {"mmap", NULL, -1},
        {"fread", "0", -1},
        {"fread", NULL, 3},
        {"pthread_create", "an errno", -1},
        {"pthread_create", NULL, 11},
        {"read", NULL, 0},
        {"read", NULL, -1},
        {"free", NULL, -1},
        {"no_such_function", NULL, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *found =
            prototype_impossible_result(cases[i].function, (uint64_t)cases[i].value);
        if (cases[i].expected == NULL)
            assert_null(found);
        else
            assert_string_equal(found, cases[i].expected);
    }
    // What the table says is a failure never is a misfit.
    for (size_t i = 0; i < prototype_count(); i++) {
        const struct prototype *prototype = prototype_at(i);
        if (prototype->failure == NULL)
            continue;
        int64_t value = prototype_failure_value(prototype->failure, 5);
        assert_null(prototype_impossible_result(prototype->name, (uint64_t)value));
    }
}

static bool takes_path(const struct prototype *prototype)
{
    return strchr(prototype->arguments, PROTOTYPE_PATH) != NULL && prototype->failure != NULL;
}

// Each member has a failure of its own; %file has all functions that take a path.
static void test_classes(void **state)
{
    assert_int_equal(function_class_count(), 4);
    for (size_t i = 0; i < function_class_count(); i++) {
        const char *class = function_class_name(i);
        for (int calls = 0; calls < 2; calls++) {
            char name[FUNCTION_NAME_SIZE], last[FUNCTION_NAME_SIZE] = "";
            size_t count = 0;
            for (size_t at = 0; function_class_next(class, calls, &at, name); count++) {
                if (strcmp(last, name) >= 0)
                    fail_msg("%s: %s after %s", class, name, last);
                memcpy(last, name, sizeof last);
                assert_true(function_class_has(class, calls, name));
                const struct prototype *prototype = prototype_find(name);
                if (!calls && (prototype == NULL || prototype->failure == NULL))
                    fail_msg("%s: nothing is known of how %s fails", class, name);
                if (calls && linux_call_find(name) == NULL)
                    fail_msg("%s: there is no system call %s", class, name);
            }
            assert_true(count >= 14);
        }
    }
    for (size_t i = 0; i < prototype_count(); i++)
        if (takes_path(prototype_at(i)) &&
            !function_class_has("%file", false, prototype_at(i)->name))
            fail_msg("%%file has no %s", prototype_at(i)->name);
    assert_false(function_class_has("%file", false, "read"));
    assert_false(function_class_has("file", false, "open"));
    assert_false(function_class_has("%file", false, "newfstatat"));
    assert_null(function_class_check("file"));
    assert_null(function_class_check("%memory"));
    expect_error(function_class_check("%mem"),
                 "there is no class of functions '%mem'; there are %file, %network, %memory, "
                 "%process");
}

// How functions fail beside their value: in order, of functions that exist, and agreeing with what
// the other table says of their arguments.
static void test_traits(void **state)
{
    for (size_t i = 0; i < WIRE_TRAITS; i++) {
        const struct wire_traits *traits = &wire_traits_table[i];
        const struct prototype *prototype = prototype_find(traits->name);
        if (i > 0)
            assert_true(strcmp(wire_traits_table[i - 1].name, traits->name) < 0);
        assert_ptr_equal(wire_traits_find(traits->name), traits);
        bool named = traits->stream != 0 && traits->stream < WIRE_TRAITS_STDIN;
        assert_true(!named || traits->stream <= WIRE_ARGUMENTS);
        assert_true(traits->stream != 0 || traits->flags != 0);
        if (traits->flags & (WIRE_TRAIT_END_IS_0 | WIRE_TRAIT_END_IS_EOF))
            assert_int_not_equal(traits->stream, 0);
        if (traits->flags & WIRE_TRAIT_RELEASES)
            assert_int_equal(traits->flags & WIRE_TRAIT_NOT_CALLABLE, 0);
        if (traits->flags & WIRE_TRAIT_DROPS_BUFFER)
            assert_true(traits->stream == 0 && (traits->flags & WIRE_TRAIT_RELEASES) != 0);
        if (named && prototype != NULL)
            assert_int_equal(prototype_argument(prototype, traits->stream), PROTOTYPE_POINTER);
    }
    assert_null(wire_traits_find("clos"));
    assert_null(wire_traits_find("closed"));
    assert_null(wire_traits_find(""));
}

// Every trigger documents itself, and its example compiles and uses it.
static void test_triggers(void **state)
{
    char directory[] = "/tmp/ordeal-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/odd_size.so", directory);
    write_plugin(path);
    assert_true(scenario_trigger_count() >= 17);
    for (size_t i = 0; i < scenario_trigger_count(); i++) {
        const struct scenario_trigger *trigger = scenario_trigger(i);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(scenario_trigger(k)->name, trigger->name);
        assert_memory_equal(trigger->syntax, trigger->name, strlen(trigger->name));
        assert_true(strlen(trigger->summary) > 10);
        assert_true(strlen(trigger->description) > 40);
        assert_null(strchr(trigger->summary, '\n'));
        struct scenario *scenario = new_scenario();
        must(scenario_add_plugin(scenario, path));
        struct error *error = scenario_add_spec(scenario, trigger->example);
        if (error != NULL)
            fail_msg("%s: %s", trigger->name, error_message(error));
        assert_non_null(strstr(scenario_rule(scenario, 0).condition, trigger->name));
        _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
        assert_true(plan.rules[0].code.count > 0);
        scenario_free(scenario);
    }
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),  cmocka_unit_test(test_errnos_and_signals),
        cmocka_unit_test(test_prototypes), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_triggers),   cmocka_unit_test(test_traits),
        cmocka_unit_test(test_misfits),    cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
