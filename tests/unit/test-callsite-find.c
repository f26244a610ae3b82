// SPDX-License-Identifier: GPL-3.0-or-later
// Whether calls are checked, for code whose truth is known, as gcc and clang compile it at every
// level, position independent or not. Every function of the source has its row below.
#include "callsite-help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    const char *function, *callee;
    enum site_class class;
    int use;   // enum site_use, or -1 if compilers differ
    int check; // enum site_check, or -1
};
static const struct row rows[] = {
#define CHECKED(function, callee)                                                                  \
    {                                                                                              \
        function, callee, SITE_CHECKED, -1, SITE_CHECK_BEFORE                                      \
    }
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

static bool is_named(const struct looking *looking, uint32_t function, const char *name)
{
    const struct flow_function *item = &looking->image->functions.items[function];
    return item->name != NULL && item->name_size == strlen(name) &&
           memcmp(item->name, name, item->name_size) == 0;
}

static const struct site *find(const struct looking *looking, const char *function,
                               const char *callee)
{
    for (size_t i = 0; i < looking->sites.items.count; i++) {
        const struct site *site = &looking->sites.items.items[i];
        if (is_named(looking, site->function, function) &&
            strcmp(looking->sites.callees.items[site->callee].name, callee) == 0)
            return site;
    }
    return NULL;
}

static unsigned check_row(const struct looking *looking, const char *compiler,
                          const struct row *row)
{
    const struct site *site = find(looking, row->function, row->callee);
    if (site == NULL) {
        print_message("%s: no site in %s\n", compiler, row->function);
        return 1;
    }
    if (site->class == row->class && (row->use < 0 || site->use == row->use) &&
        (row->check < 0 || site->check == row->check))
        return 0;
    print_message("%s: %s of %s at %llx is %s, %s, check %u; not %s, use %d, check %d\n", compiler,
                  row->callee, row->function, (unsigned long long)site->address,
                  site_class_name(site->class), site_use_name(site->use), site->check,
                  site_class_name(row->class), row->use, row->check);
    return 1;
}

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
    char command[1024], path[512];
    unsigned wrong = 0;
    struct looking looking;
    snprintf(path, sizeof path, "%s/idioms", directory);
    snprintf(command, sizeof command,
             "%s -w -fno-delete-null-pointer-checks -o %s %s/tests/unit/callsite-idioms.c",
             compiler, path, getenv("ORDEAL_SOURCE_ROOT"));
    assert_int_equal(system(command), 0);
    look(path, &looking);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += check_row(&looking, compiler, &rows[i]);
    bool all = strstr(compiler, "-O0") == NULL && strstr(compiler, "-protector") == NULL;
    for (size_t i = 0; i < sizeof some_rows / sizeof *some_rows && all; i++)
        wrong += check_row(&looking, compiler, &some_rows[i]);
    wrong += check_others(&looking, compiler);
    looked(&looking);
    unlink(path);
    return wrong;
}

static void test_idioms(void **state)
{
    static const char *const compilers[] = {"gcc -O0",
                                            "gcc -O1",
                                            "gcc -O2",
                                            "gcc -O3",
                                            "gcc -Os",
                                            "clang -O0",
                                            "clang -O1",
                                            "clang -O2",
                                            "clang -O3",
                                            "clang -Os",
                                            "gcc -O2 -no-pie",
                                            "gcc -O0 -no-pie -fno-pie",
                                            "clang -O2 -no-pie -fno-pie",
                                            "gcc -O2 -fno-plt",
                                            "clang -O1 -fno-plt",
                                            "gcc -O2 -fstack-protector-all",
                                            "clang -O2 -fstack-protector-all"};
    char directory[] = "/tmp/ordeal-unit.XXXXXX";
    unsigned wrong = 0;
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        wrong += check_with(compilers[i], directory);
    rmdir(directory);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idioms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
