// SPDX-License-Identifier: GPL-3.0-or-later
// Tests reading gcov's output and merging runs.
#include "injectors/library/gcov.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct sum {
    unsigned files;
    uint64_t lines, before, after;
    char last[64];
};

static struct error *add(void *data, const char *name, uint64_t lines, uint64_t before,
                         uint64_t after)
{
    struct sum *sum = data;
    sum->files++;
    sum->lines += lines;
    sum->before += before;
    sum->after += after;
    snprintf(sum->last, sizeof sum->last, "%s", name);
    return NULL;
}

static void runs_are_united(void **state)
{
    static const char without[] = "        -:    0:Source:a.c\n"
                                  "        -:    0:Graph:a.gcno\n"
                                  "        -:    1:#include <x.h>\n"
                                  "        2:    2:int main(void)\n"
                                  "       10*:    3:  f();\n"
                                  "    #####:    4:  fail();\n"
                                  "    =====:    5:  never();\n"
                                  "        -:    0:Source:/usr/include/x.h\n"
                                  "        1:    1:inline\n";
    static const char with[] = "        -:    0:Source:a.c\n"
                               "        1:    2:int main(void)\n"
                               "        1:    4:  fail();\n"
                               "    #####:    5:  never();\n";
    struct gcov_lines *lines;
    struct sum sum = {0};
    assert_null(gcov_lines_new(&lines));
    assert_null(gcov_lines_add(lines, without, true));
    assert_null(gcov_lines_add(lines, with, false));
    assert_null(gcov_lines_each(lines, add, &sum));
    assert_int_equal(sum.files, 1);
    assert_string_equal(sum.last, "a.c");
    assert_int_equal(sum.lines, 4);
    assert_int_equal(sum.before, 2);
    assert_int_equal(sum.after, 3);
    gcov_lines_free(lines);
}

static void nonsense_is_skipped(void **state)
{
    struct gcov_lines *lines;
    struct sum sum = {0};
    assert_null(gcov_lines_new(&lines));
    assert_null(gcov_lines_add(lines, "", true));
    assert_null(gcov_lines_add(lines, "1: 2:text before any file\n:::\n-:\n", true));
    assert_null(gcov_lines_add(lines, "-: 0:Source:b.c\n1:99999999999:x\n1:-4:x\n1: x:y\nz", true));
    assert_null(gcov_lines_each(lines, add, &sum));
    assert_int_equal(sum.lines, 0);
    gcov_lines_free(lines);
    gcov_lines_free(NULL);
}

// Trials may write there, whoever they run as. Other users of the machine cannot.
static void strangers_stay_out(void **state)
{
    struct gcov gcov = {0};
    struct stat facts;
    char *place, *part;
    assert_null(gcov_open(&gcov));
    assert_int_equal(stat(gcov.directory, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0700);
    assert_int_equal(strncmp(gcov.shown, gcov.directory, strlen(gcov.directory)), 0);
    assert_int_equal(stat(gcov.shown, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0755);
    for (int i = 0; i < 2; i++) {
        part = strchr(gcov.variables[i], '=') + 1;
        assert_int_equal(strncmp(part, gcov.shown, strlen(gcov.shown)), 0);
        assert_int_equal(stat(part, &facts), 0);
        assert_int_equal(facts.st_mode & 07777, 01777);
    }
    place = strdup(gcov.directory);
    gcov_close(&gcov);
    assert_int_equal(stat(place, &facts), -1);
    free(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strangers_stay_out),
                                       cmocka_unit_test(runs_are_united),
                                       cmocka_unit_test(nonsense_is_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
