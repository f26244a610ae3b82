// SPDX-License-Identifier: GPL-3.0-or-later
// What is a report of the failure, what was there without any, and what a symptom is about.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge-help.h"

// Takes the run.
static void symptom_is(struct outcome_run run, enum symptom symptom, const char *about)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_int_equal(judgement.symptom, symptom);
    if (about == NULL)
        assert_null(judgement.about);
    else
        assert_string_equal(judgement.about, about);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

static struct outcome_run loses(int status)
{
    struct outcome_run run = usual(status, "done\n", "hello\n");
    run_file_bytes(&run, "/w/notes", ARTIFACT_DELETED, "", 0);
    return run;
}

// Where others find that something is wrong, nobody knows that a failure was reported.
static void test_symptom_is_of_the_verdict(void **state)
{
    symptom_is(loses(1), SYMPTOM_LOST, "/w/notes");
    struct outcome_run run = loses(0);
    run_step(&run.posttest, 3, "", "");
    symptom_is(run, SYMPTOM_NONE, NULL);
    run = loses(0);
    run_step(&run.oracle, 0, "unstable\n", "");
    symptom_is(run, SYMPTOM_NONE, NULL);
    run = loses(0);
    run_step(&run.oracle, 0, "silent\n", "");
    symptom_is(run, SYMPTOM_LOST, "/w/notes");
}

// A log that says what went wrong, and has all that it should have, is a report and no wrong file.
static void test_reported_in_a_file(void **state)
{
    struct outcome_run run = run_new(0, "done\n", "hello\n");
    run_file(&run, "/w/out", "[1] Input/output error\ncontent\n");
    judged(run, VERDICT_GRACEFUL,
           "everything as the reference, but it is reported; /w/out: '[1] Input/output error'",
           "graceful stderr after read in fill at in.c:7");
    run = usual(0, "done\n", "hello\n");
    run_file(&run, "/w/log", "read: Input/output error\n");
    judged(run, VERDICT_GRACEFUL,
           "everything as the reference, but it is reported; /w/log: 'read: Input/output error'",
           "graceful stderr after read in fill at in.c:7");
    // A list that says what is wrong with an entry is right, unless the system had no memory left:
    // that says nothing about the entry.
    run = usual(0, "not readable\n", "hello\n");
    verdict_is(run, VERDICT_GRACEFUL);
    run = usual(0, "not readable\n", "hello\n");
    free(run.observation.injections.items[0].fault);
    run.observation.injections.items[0].fault = strdup("malloc=NULL/ENOMEM");
    verdict_is(run, VERDICT_WRONG_OUTPUT);
    // Another error is not the one that was injected.
    run = run_new(0, "done\n", "hello\n");
    run_file(&run, "/w/out", "No such file or directory\ncontent\n");
    judged(run, VERDICT_SILENT,
           "/w/out differs at line 1: 'No such file or directory' instead of 'content'; exit "
           "status 0 as without the fault, nothing reported",
           "silent result after read in fill at in.c:7");
    // Where something is missing, there is more to it than that.
    run = run_new(0, "done\n", "hello\n");
    run_file(&run, "/w/out", "Input/output error\n");
    judged(run, VERDICT_WRONG_OUTPUT,
           "/w/out differs at line 1: 'Input/output error' instead of 'content'; exit status 0 as "
           "without the fault; /w/out: 'Input/output error'",
           "silent result after read in fill at in.c:7");
    judged(usual(0, "done\nInput/output error\n", "hello\n"), VERDICT_WRONG_OUTPUT,
           "stdout has 2 lines instead of 1, the first more: 'Input/output error'; exit status 0 "
           "as without the fault; stdout: 'Input/output error'",
           "silent result after what the program reports and ends with 0");
}

// Where lines vary, too, those that do not must be there.
static void test_reported_in_a_file_that_varies(void **state)
{
    struct outcome_run first = run_new(0, "", ""), second = run_new(0, "", "");
    run_file(&first, "/w/log", "start\nat 1\nend\n");
    run_file(&second, "/w/log", "start\nat 2\nend\n");
    struct reference *before = instead(first, second);
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/log", "start\nInput/output error\nat 3\nend\n");
    judged(run, VERDICT_GRACEFUL,
           "everything as the reference, but it is reported; /w/log: 'Input/output error'",
           "graceful stderr after read in fill at in.c:7");
    run = run_new(0, "", "");
    run_file(&run, "/w/log", "start\nat 3\nInput/output error\n");
    judged(run, VERDICT_WRONG_OUTPUT,
           "/w/log differs at line 3: 'Input/output error' instead of 'end'; exit status 0 as "
           "without the fault; /w/log: 'Input/output error'",
           "silent result after read in fill at in.c:7");
    back_to(before);
}

// If a result is wrong although that is reported, the exit status is what is wrong, whichever call
// failed, unless the report is in a file.
static void test_reported_on_stdout(void **state)
{
    struct outcome_run run = run_new(0, "done\nin: Input/output error\n", "hello\n");
    run_file(&run, "/w/out", "less\n");
    cause_is(run, "silent result after what the program reports and ends with 0");
    cause_is(usual(0, "in: Input/output error\nless\n", "hello\n"),
             "silent result after what the program reports and ends with 0");
    cause_is(usual(0, "less\n", "hello\n"), "silent result after read in fill at in.c:7");
}

// A stream without a buffer writes earlier than other processes.
static void test_order_of_lines(void **state)
{
    static const char *const functions[] = {"_IO_file_doallocate", "_IO_file_overflow"};
    struct reference *before = instead(run_new(0, "a\nb\n", ""), run_new(0, "a\nb\n", ""));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char stack[100];
        snprintf(stack, sizeof stack, "%s at filedoalloc.c:101 (libc.so.6)\nfill at in.c:7 (in)",
                 functions[i]);
        verdict_is(from(run_new(0, "b\na\n", ""), "in", stack),
                   i == 0 ? VERDICT_PASS : VERDICT_SILENT);
        verdict_is(from(run_new(0, "b\na\na\n", ""), "in", stack), VERDICT_SILENT);
        verdict_is(from(run_new(0, "b\n", ""), "in", stack), VERDICT_SILENT);
    }
    back_to(before);
}

static void copied(struct outcome_run first, struct outcome_run second)
{
    struct reference *before = instead(first, second);
    struct outcome_run run = usual(0, "done\n", "hello\n");
    run_file(&run, "/v/tmp1", "1 Input/output error\n");
    cause_is(run, "silent result after read in fill at in.c:7");
    back_to(before);
}

// What was there without any fault, in any place, in any run or before it, reports nothing.
static void test_copied_words(void **state)
{
    copied(usual(0, "done\n", "hello\n"), usual(0, "done\n", "hello: Input/output error\n"));
    struct outcome_run second = usual(0, "done\n", "hello\n");
    run_file(&second, "/w/sometimes", "Input/output error\n");
    copied(usual(0, "done\n", "hello\n"), second);
    // Across the pieces in which it is read.
    static char old[40000];
    const char *path = victim_path("old");
    for (size_t at = 16 << 10; at < (16 << 10) + 120; at += 17) {
        memset(old, 'x', sizeof old);
        memcpy(old + at, "Input/output error", 18);
        victim_write("old", old, sizeof old, 0600);
        struct outcome_run changes[2];
        for (int i = 0; i < 2; i++) {
            changes[i] = run_new(0, "done\n", "hello\n");
            run_file(&changes[i], path, "new\n");
        }
        struct reference *before = instead(changes[0], changes[1]);
        struct outcome_run run = run_new(0, "done\n", "hello\n");
        run_file(&run, path, "new\n");
        run_file(&run, "/v/tmp1", "1 Input/output error\n");
        cause_is(run, "silent result after read in fill at in.c:7");
        back_to(before);
    }
}

// What the runs made of it may go on with just that.
static void test_words_beyond_what_is_kept(void **state)
{
    static char text[ARTIFACT_CONTENT + 100];
    memset(text, 'x', sizeof text - 1);
    struct outcome_run runs[2];
    for (int i = 0; i < 2; i++) {
        runs[i] = run_new(0, "", "");
        run_file(&runs[i], "/w/big", text);
    }
    struct reference *before = instead(runs[0], runs[1]);
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/big", "Input/output error\n");
    cause_is(run, "silent result after read in fill at in.c:7");
    back_to(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symptom_is_of_the_verdict),
        cmocka_unit_test(test_reported_in_a_file),
        cmocka_unit_test(test_reported_in_a_file_that_varies),
        cmocka_unit_test(test_reported_on_stdout),
        cmocka_unit_test(test_order_of_lines),
        cmocka_unit_test(test_copied_words),
        cmocka_unit_test(test_words_beyond_what_is_kept),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
