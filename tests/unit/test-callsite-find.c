// SPDX-License-Identifier: GPL-3.0-or-later
// Whether calls are checked, for code whose truth is known, as gcc and clang compile it at every
// level, position independent or not. Every function of the source has its row below.
#include "callsite-rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct row rows[] = {
    CHECKED("by_null", "malloc"),
    CHECKED("by_not_null", "malloc"),
    CHECKED("by_minus_one", "open"),
    CHECKED("by_sign", "open"),
    CHECKED("by_not_negative", "open"),
    CHECKED("by_above_zero", "read"),
    CHECKED("by_unsigned", "mmap"),
    CHECKED("by_length", "write"),
    CHECKED("by_fixed_length", "read"),
    CHECKED("by_zero_only", "close"),
    CHECKED("by_switch", "fork"),
    CHECKED("by_long_switch", "open"),
    CHECKED("by_variable", "open"),
    CHECKED("by_truth", "open"),
    CHECKED("by_choice", "malloc"),
    CHECKED("in_global", "malloc"),
    CHECKED("in_heap", "malloc"),
    CHECKED("in_deep_heap", "malloc"),
    CHECKED("after_another_call", "open"),
    CHECKED("in_both", "malloc"),
    CHECKED("in_loop", "read"),
    CHECKED("by_errno", "strtol"),
    CHECKED("by_errno_kept", "strtol"),
    CHECKED("guard", "malloc"),
    CHECKED("passes_checked", "malloc"),
    CHECKED("far_caller_end", "open"),
    CHECKED("called_on", "malloc"),
    {"given_back", "malloc", SITE_CHECKED, -1, -1},
    CHECKED("in_array", "open"),
    CHECKED("in_structures", "open"),
    {"in_other_element", "open", SITE_UNCHECKED, -1, SITE_CHECK_NONE},
    {"given_back_at_end", "open", SITE_CHECKED, -1, -1},
    CHECKED("until_child", "waitpid"),
    CHECKED("repeated_and_checked", "waitpid"),
    {"only_repeated", "waitpid", SITE_PARTLY, SITE_IGNORED, -1},
    {"checked_late", "malloc", SITE_CHECKED, SITE_DEREFERENCED, SITE_CHECK_AFTER},
    {"passed_then_checked", "open", SITE_CHECKED, SITE_PASSED, SITE_CHECK_AFTER},
    {"checked_sometimes", "malloc", SITE_CHECKED, SITE_DEREFERENCED, SITE_CHECK_SOME},
    {"ignored", "close", SITE_UNCHECKED, SITE_IGNORED, SITE_CHECK_NONE},
    {"ignored_at_end", "unlink", SITE_UNCHECKED, SITE_IGNORED, SITE_CHECK_NONE},
    {"used_at_once", "malloc", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    {"used_with_index", "malloc", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    {"passed_on", "opendir", SITE_UNCHECKED, SITE_PASSED, SITE_CHECK_NONE},
    {"passed_second", "open", SITE_UNCHECKED, SITE_PASSED, SITE_CHECK_NONE},
    {"stored_global", "open", SITE_UNCHECKED, SITE_STORED_GLOBAL, SITE_CHECK_NONE},
    {"stored_out", "malloc", SITE_UNCHECKED, SITE_STORED_ELSEWHERE, SITE_CHECK_NONE},
    {"wrong_constant", "open", SITE_UNCHECKED, SITE_PASSED, SITE_CHECK_NONE},
    {"wrong_end", "read", SITE_UNCHECKED, -1, SITE_CHECK_NONE},
    {"wrong_null", "mmap", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    {"child_only", "fork", SITE_UNCHECKED, -1, SITE_CHECK_NONE},
    {"passes_unchecked", "malloc", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    {"partly", "select", SITE_PARTLY, -1, -1},
    CHECKED("to_beginning", "lseek"),
    CHECKED("far_enough", "lseek"),
    {"opens_kept", "fdopen", SITE_UNKNOWN, SITE_STORED_GLOBAL, SITE_CHECK_NONE},
    CHECKED("same_line", "fgets"),
    {"walks", "closedir", SITE_UNCHECKED, SITE_IGNORED, SITE_CHECK_NONE},
    {"unknown_caller", "open", SITE_UNKNOWN, SITE_RETURNED, SITE_CHECK_NONE},
};

// Not at every level: without optimisation the variable is in memory all the time, and with a stack
// protector it is too far to the end of the wrapper.
static const struct row some_rows[] = {
    CHECKED("asks_wrapper", "getppid"),
    CHECKED("gathered", "unlink"),
    CHECKED("gathered", "rmdir"),
};

static unsigned check_others(const struct looking *looking, const char *compiler)
{
    unsigned wrong = 0;
    const struct site *guard = find(looking, "guard", "malloc");
    const struct site *empty = find(looking, "guard_or_empty", "malloc");
    const struct site *passes = find(looking, "passes", "malloc");
    const struct site *retries = find(looking, "retries", "read");
    const struct site *outer = find(looking, "passes_unchecked", "malloc");
    const struct site *partly = find(looking, "partly", "select");
    wrong += guard == NULL || guard->role != SITE_ROLE_GUARDS;
    wrong += empty == NULL || empty->role != SITE_ROLE_GUARDS;
    wrong += retries == NULL || retries->role != SITE_ROLE_PASSES;
    wrong += passes == NULL || passes->role != SITE_ROLE_PASSES || passes->callers != 2 ||
             passes->callers_checked != 1 || passes->class != SITE_PARTLY;
    wrong += outer == NULL || !is_named(looking, outer->wrapper, "passes") ||
             outer->inner == FLOW_NONE || &looking->sites.items.items[outer->inner] != passes;
    wrong += find(looking, "guarded", "malloc") != NULL;
    const struct site *inside = find(looking, "called_on", "malloc");
    wrong += inside == NULL || inside->place != SITE_PLACE_CALLED_ON;
    wrong += partly == NULL || partly->unchecked != 6;
    if (wrong != 0)
        print_message("%s: wrappers: guard %d, passes %d %d %d\n", compiler,
                      guard != NULL ? guard->role : -1, passes != NULL ? passes->role : -1,
                      passes != NULL ? (int)passes->callers : -1,
                      passes != NULL ? (int)passes->class : -1);
    return wrong;
}

static unsigned check_with(const char *compiler, const char *directory)
{
    unsigned wrong = 0;
    struct looking looking;
    compile_and_look("callsite-idioms.c", compiler, directory, &looking);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += check_row(&looking, compiler, &rows[i]);
    bool all = strstr(compiler, "-O0") == NULL && strstr(compiler, "-protector") == NULL;
    for (size_t i = 0; i < sizeof some_rows / sizeof *some_rows && all; i++)
        wrong += check_row(&looking, compiler, &some_rows[i]);
    wrong += check_others(&looking, compiler);
    looked(&looking);
    return wrong;
}

static void test_idioms(void **state)
{
    check_with_compilers(check_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idioms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
