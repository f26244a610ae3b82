// SPDX-License-Identifier: GPL-3.0-or-later
// Whether calls are checked whose results are compared with limits, with what was asked for or with
// other values, or that wrappers deal with; as gcc and clang compile them at every level.
#include "callsite-rows.h"

static const struct row rows[] = {
    CHECKED("below_size", "snprintf"),
    CHECKED("below_constant", "snprintf"),
    {"below_signed", "snprintf", SITE_UNCHECKED, -1, SITE_CHECK_NONE},
    CHECKED("only_positive", "getppid"),
    CHECKED("at_least_one", "sysconf"),
    CHECKED("unless_failed", "close"),
    {"asks_file", "syscall", SITE_UNCHECKED, SITE_STORED_GLOBAL, SITE_CHECK_NONE},
    CHECKED("certain_descriptor", "dup2"),
    CHECKED("four_bytes", "recv"),
    {"behind_beginning", "strrchr", SITE_UNKNOWN, SITE_COMPARED, SITE_CHECK_NONE},
    {"next_descriptor", "dup", SITE_UNKNOWN, SITE_COMPARED, SITE_CHECK_NONE},
    {"right_letter", "getc", SITE_UNKNOWN, SITE_COMPARED, SITE_CHECK_NONE},
    {"to_end_of_line", "getc", SITE_UNCHECKED, SITE_COMPARED, SITE_CHECK_NONE},
    CHECKED("notes", "fwrite"),
    CHECKED("checks_reports", "unlink"),
    {"ignores_reports", "unlink", SITE_UNKNOWN, SITE_IGNORED, SITE_CHECK_NONE},
    CHECKED("must", "malloc"),
    {"uses_may", "malloc", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    CHECKED("must_by_flag", "malloc"),
    CHECKED("must_by_level", "malloc"),
    {"uses_may_by_level", "malloc", SITE_UNCHECKED, SITE_DEREFERENCED, SITE_CHECK_NONE},
    CHECKED("filled_day", "mktime"),
    {"weekday", "mktime", SITE_UNCHECKED, -1, SITE_CHECK_NONE},
    {"put_back", "getc", SITE_UNKNOWN, SITE_COMPARED, SITE_CHECK_NONE},
    {"converts", "strtoll", SITE_CHECKED, -1, -1},
    {"keeps", "open", SITE_UNKNOWN, SITE_STORED_ELSEWHERE, SITE_CHECK_NONE},
    {"keeps_other", "open", SITE_UNCHECKED, SITE_STORED_ELSEWHERE, SITE_CHECK_NONE},
    {"logged", "open", SITE_UNKNOWN, SITE_PASSED, SITE_CHECK_NONE},
};

// clang may store the argument instead of pushing it.
static const struct row seventh = {"passes_seventh", "malloc", SITE_UNKNOWN, -1, SITE_CHECK_NONE};

// gcc without optimisation calculates the address in the table first.
static const struct row digit = {"digit", "getc", SITE_UNKNOWN, SITE_COMPARED, SITE_CHECK_NONE};

// What these call returns no failure.
static const char *const without_sites[] = {
    "calls_notes",        "uses_must", "uses_converted", "uses_must_by_flag",
    "uses_must_by_level", "asks_pid",  "asks_page_size"};

static unsigned check_with(const char *compiler, const char *directory)
{
    unsigned wrong = 0;
    struct looking looking;
    compile_and_look("callsite-comparisons.c", compiler, directory, &looking);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += check_row(&looking, compiler, &rows[i]);
    if (strstr(compiler, "gcc") != NULL)
        wrong += check_row(&looking, compiler, &seventh);
    if (strncmp(compiler, "gcc -O0", strlen("gcc -O0")) != 0)
        wrong += check_row(&looking, compiler, &digit);
    for (size_t i = 0; i < looking.sites.items.count; i++)
        for (size_t k = 0; k < sizeof without_sites / sizeof *without_sites; k++)
            if (is_named(&looking, looking.sites.items.items[i].function, without_sites[k])) {
                print_message("%s: a site in %s\n", compiler, without_sites[k]);
                wrong++;
            }
    looked(&looking);
    return wrong;
}

static void test_comparisons(void **state)
{
    check_with_compilers(check_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
