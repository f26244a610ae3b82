// SPDX-License-Identifier: GPL-3.0-or-later
// Trace files and their differences: what is written is read again, what is damaged is refused with
// its line, and differences are told in words.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/trace.h"
#include "report/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void good(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void parse(const char *text, struct trace *trace)
{
    good(trace_parse("t", text, strlen(text), trace));
}

static void a_file_is_read_as_it_was_written(void **state)
{
    static const char text[] = "ordeal trace 1\n"
                               "process r \"sh\"\n"
                               "  openat(\"a, \\\"b\\\") c\", O_WRONLY|O_CREAT, 0644)\n"
                               "  write(<x \\> y>, 3 bytes 00000000000000ff)\n"
                               "  exited(0)\n"
                               "process r.2 \"mv\"\n"
                               "  rename(\"a\", \"b\")\n"
                               "process r.10 \"mv\"\n"
                               "  sync_everything()\n"
                               "end 5\n";
    struct trace trace;
    struct buffer again = {0};
    parse(text, &trace);
    assert_int_equal(trace.processes.count, 3);
    const struct trace_line *line = &trace.processes.items[0].lines.items[0];
    assert_string_equal(line->call, "openat");
    assert_int_equal(line->argument_count, 3);
    assert_string_equal(line->arguments[0], "\"a, \\\"b\\\") c\"");
    assert_string_equal(line->arguments[2], "0644");
    assert_int_equal(trace.processes.items[2].lines.items[0].argument_count, 0);
    good(trace_print(&trace, &again));
    assert_string_equal(again.data, text);
    buffer_deinit(&again);
    trace_deinit(&trace);
}

static void damage_is_an_error_with_its_place(void **state)
{
    static const char *const cases[][2] = {
        {"", "this is no trace"},
        {"strace\n", "this is no trace"},
        {"ordeal trace 1\n", "is not complete"},
        {"ordeal trace 1\nprocess r \"x\"\n  exited(0)\n", "is not complete"},
        {"ordeal trace 1\n  exited(0)\nend 1\n", "t:2:1: a call before the first process"},
        {"ordeal trace 1\nprocess x \"x\"\nend 0\n", "t:2:1: expected a process"},
        {"ordeal trace 1\nprocess r.0 \"x\"\nend 0\n", "t:2:1: expected a process"},
        {"ordeal trace 1\nprocess r x\nend 0\n", "t:2:1: expected a process"},
        {"ordeal trace 1\nprocess r \"x\"\n  write\nend 1\n", "t:3:1: expected a call"},
        {"ordeal trace 1\nprocess r \"x\"\n  write(\"a)\nend 1\n", "t:3:1: this argument"},
        {"ordeal trace 1\nprocess r \"x\"\n  write(1, )\nend 1\n", "t:3:1: an argument is missing"},
        {"ordeal trace 1\nprocess r \"x\"\n  w(1, 2, 3, 4, 5, 6, 7, 8, 9)\nend 1\n",
         "t:3:1: no call has so many"},
        {"ordeal trace 1\nprocess r \"x\"\n  exited(0)\nend 2\n", "t:4:1: the number of calls"},
        {"ordeal trace 1\nprocess r \"x\"\n  exited(0)\nend 1\nmore\n", "something stands behind"},
        {"ordeal trace 1\nprocess r.2 \"x\"\nprocess r.1 \"x\"\nend 0\n", "t:3:1: this process"},
        {"ordeal trace 1\nrubbish\nend 0\n", "t:2:1: expected a process, a call or the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace trace;
        struct error *error = trace_parse("t", cases[i][0], strlen(cases[i][0]), &trace);
        if (error == NULL)
            fail_msg("'%s' was read", cases[i][0]);
        if (strstr(error_message(error), cases[i][1]) == NULL)
            fail_msg("'%s': '%s'", cases[i][0], error_message(error));
        error_free(error);
    }
}

static void expect_words(const char *first, const char *second, const char *words)
{
    struct trace a, b;
    struct trace_differences differences;
    struct buffer text = {0};
    parse(first, &a);
    parse(second, &b);
    good(trace_compare(&a, &b, &differences));
    good(report_trace_differences(&differences, &text));
    assert_string_equal(text.data != NULL ? text.data : "", words);
    buffer_deinit(&text);
    trace_differences_deinit(&differences);
    trace_deinit(&a);
    trace_deinit(&b);
}

#define HEAD "ordeal trace 1\nprocess r \"a\"\n"

static void differences_are_told_in_words(void **state)
{
    static const char base[] = HEAD "  mkdir(\"d\", 0777)\n"
                                    "  write(<x>, 3 bytes 00000000000000aa)\n"
                                    "  rename(\"x.tmp\", \"x\")\n"
                                    "  exited(0)\nend 4\n";
    expect_words(base, base, "");
    expect_words(base,
                 HEAD "  mkdir(\"d\", 0777)\n  write(<x>, 3 bytes 00000000000000aa)\n"
                      "  exited(0)\nend 3\n",
                 "r no longer renames \"x.tmp\" to \"x\"\n");
    expect_words(base,
                 HEAD "  mkdir(\"d\", 0777)\n  write(<x>, 2 bytes 00000000000000bb)\n"
                      "  unlink(\"y\")\n  rename(\"x.tmp\", \"x\")\n  exited(1)\nend 5\n",
                 "r writes 2 bytes 00000000000000bb to <x>, not 3 bytes 00000000000000aa\n"
                 "r now also removes \"y\"\n"
                 "r exits with status 1, not 0\n");
    // Order counts.
    expect_words(HEAD "  unlink(\"a\")\n  unlink(\"b\")\nend 2\n",
                 HEAD "  unlink(\"b\")\n  unlink(\"a\")\nend 2\n",
                 "r no longer removes \"a\"\nr now also removes \"a\"\n");
    expect_words(base, "ordeal trace 1\nprocess r.1 \"b\"\n  no_such_call(1)\nend 1\n",
                 "r (a) is missing; it did this: mkdir(\"d\", 0777), "
                 "write(<x>, 3 bytes 00000000000000aa), rename(\"x.tmp\", \"x\") and 1 more calls\n"
                 "r.1 (b) is new; it does this: no_such_call(1)\n");
}

// A shortest list of differences turns the one into the other.
static void alignment_is_right_for_random_traces(void **state)
{
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct buffer texts[2] = {{0}, {0}};
        struct trace traces[2];
        for (int i = 0; i < 2; i++) {
            int count = rand() % 30;
            good(buffer_printf(&texts[i], HEAD));
            for (int j = 0; j < count; j++)
                good(buffer_printf(&texts[i], "  unlink(\"%d\")\n", rand() % 6));
            good(buffer_printf(&texts[i], "end %d\n", count));
            parse(texts[i].data, &traces[i]);
        }
        struct trace_differences differences;
        good(trace_compare(&traces[0], &traces[1], &differences));
        size_t gone = 0, new = 0;
        for (size_t i = 0; i < differences.list.count; i++) {
            gone += differences.list.items[i].old != NULL;
            new += differences.list.items[i].new != NULL;
        }
        size_t a = traces[0].processes.items[0].lines.count;
        size_t b = traces[1].processes.items[0].lines.count;
        assert_int_equal(a - gone, b - new); // what is common
        // The longest common subsequence, the slow way.
        size_t table[32][32] = {{0}};
        for (size_t i = 0; i < a; i++)
            for (size_t j = 0; j < b; j++)
                table[i + 1][j + 1] = strcmp(traces[0].processes.items[0].lines.items[i].text,
                                             traces[1].processes.items[0].lines.items[j].text) == 0
                                          ? table[i][j] + 1
                                      : table[i][j + 1] > table[i + 1][j] ? table[i][j + 1]
                                                                          : table[i + 1][j];
        assert_int_equal(a - gone, table[a][b]);
        trace_differences_deinit(&differences);
        for (int i = 0; i < 2; i++) {
            trace_deinit(&traces[i]);
            buffer_deinit(&texts[i]);
        }
    }
}

static void names_are_ordered_by_number(void **state)
{
    assert_true(trace_name_compare("r.2", "r.10") < 0);
    assert_true(trace_name_compare("r", "r.1") < 0);
    assert_true(trace_name_compare("r.1.9", "r.2") < 0);
    assert_int_equal(trace_name_compare("r.3", "r.3"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_as_it_was_written),
        cmocka_unit_test(damage_is_an_error_with_its_place),
        cmocka_unit_test(differences_are_told_in_words),
        cmocka_unit_test(alignment_is_right_for_random_traces),
        cmocka_unit_test(names_are_ordered_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
