// SPDX-License-Identifier: GPL-3.0-or-later
// Every verdict, with its reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge-help.h"
#include "oracle/hang.h"

static void test_pass(void **state)
{
    judged(usual(0, "done\n", "hello\n"), VERDICT_PASS, "as the reference", "pass");
    judged(usual(0, "done\n", ""), VERDICT_PASS, "as the reference", "pass");
}

static void test_invalid(void **state)
{
    struct outcome_run run = usual(0, "done\n", "hello\n");
    run_step(&run.pretest, 1, "", "no\tserver\n");
    judged(run, VERDICT_INVALID, "pretest failed: exit status 1; it says: 'no\\tserver'",
           "invalid");
    run = usual(0, "", "");
    run_step(&run.setup, 9, "", "");
    run.setup_failed = true;
    judged(run, VERDICT_INVALID, "setup failed: exit status 9", "invalid");
    run = usual(0, "", "");
    run.trouble = strdup("no more processes\n");
    judged(run, VERDICT_INVALID, "no more processes\\n", "invalid");
    run = usual(0, "", "");
    run.workload.end = SANDBOX_SKIPPED;
    judged(run, VERDICT_INVALID, "the workload was not started", "invalid");
}

static void test_not_activated(void **state)
{
    struct outcome_run run = usual(7, "", "");
    run.observation.activations = 0;
    judged(run, VERDICT_NOT_ACTIVATED, "the fault was never hit; exit status 7", "not-activated");
    run = usual(7, "", "");
    run.observation.activations = 0;
    run.observation.note = strdup("x ran without the plug-in p.so");
    judged(run, VERDICT_NOT_ACTIVATED,
           "the fault was never hit; exit status 7; x ran without the plug-in p.so",
           "not-activated");
}

static void test_hang(void **state)
{
    struct outcome_run run = usual(0, "", "");
    run.workload.end = SANDBOX_TIMEOUT;
    run.workload.ns = 2000000000;
    judged(run, VERDICT_HANG, "not done after 2 s", "hang somewhere after read in fill at in.c:7");
    run = usual(0, "", "");
    run.workload.end = SANDBOX_TIMEOUT;
    run.workload.ns = 2000000000;
    run.hang_key = strdup("poll (libc.so.6)\nwait (x)\nloop (x)\nmain (x)\n__libc (libc.so.6)");
    judged(run, VERDICT_HANG, "not done after 2 s, in wait (x) < loop (x) < main (x)",
           "hang in wait (x) < loop (x) < main (x)");
    // A loop is one, whoever called the function that it is in.
    run = usual(0, "", "");
    run.workload.end = SANDBOX_TIMEOUT;
    run.workload.ns = 2000000000;
    run.hang_key = strdup("memcpy (libc.so.6)\nspin (x)\nother (x)\nmain (x)");
    run.hang_busy = true;
    judged(run, VERDICT_HANG, "not done after 2 s, in spin (x) < other (x) < main (x)",
           "hang in spin (x)");
    run = usual(0, "", "");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGXCPU;
    judged(run, VERDICT_HANG, "used up its processor time (SIGXCPU)",
           "hang somewhere after read in fill at in.c:7");
}

// Somebody died, and somebody else did not end.
static void test_late_crash(void **state)
{
    struct outcome_run run = usual(0, "", "");
    run.workload.end = SANDBOX_TIMEOUT;
    run.workload.ns = 2000000000;
    run.workload.died = SIGSEGV;
    run.remaining = strdup("srv");
    judged(run, VERDICT_CRASH, "killed by SIGSEGV; and not done after 2 s: there still ran srv",
           "crash SIGSEGV after read in fill at in.c:7");
    run = usual(0, "", "");
    run.workload.end = SANDBOX_TIMEOUT;
    run.workload.ns = 2000000000;
    run.observation.crash_signal = SIGABRT;
    run.observation.crash = strdup("SIGABRT at 0x7f in x");
    run.observation.crash_key = strdup("abort (libc.so.6)\nf (x)\nmain (x)");
    run.observation.crash_in_command = true;
    judged(run, VERDICT_CRASH, "SIGABRT at 0x7f in x, in f (x) < main (x); and not done after 2 s",
           "crash SIGABRT in f (x)");
}

static void test_crash(void **state)
{
    struct outcome_run run = usual(0, "", "bad\033[1m\n");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGSEGV;
    judged(run, VERDICT_CRASH, "killed by SIGSEGV; stderr: 'bad\\x1b[1m'",
           "crash SIGSEGV after read in fill at in.c:7");
    run = usual(0, "", "");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGABRT;
    run.observation.crash_signal = SIGABRT;
    run.observation.crash = strdup("SIGABRT at 0x7f in x");
    run.observation.crash_key = strdup("abort (libc.so.6)\nf (x)\nmain (x)");
    run.observation.crash_in_command = true;
    judged(run, VERDICT_CRASH, "SIGABRT at 0x7f in x, in f (x) < main (x)",
           "crash SIGABRT in f (x)");
    // A process further down, and the command goes on as if nothing had been.
    run = usual(0, "done\n", "hello\n");
    run.observation.crash_signal = SIGSEGV;
    run.observation.crash = strdup("SIGSEGV at 0x0 in child");
    judged(run, VERDICT_CRASH,
           "SIGSEGV at 0x0 in child (a process that the workload started); stderr: 'hello'",
           "crash SIGSEGV after read in fill at in.c:7");
    run = usual(139, "", "");
    judged(run, VERDICT_CRASH,
           "exit status 139, by which shells report that a process died of SIGSEGV",
           "crash SIGSEGV after read in fill at in.c:7");
    run = usual(0, "done\n", "hello\n");
    run.sanitizer = strdup("AddressSanitizer: heap-use-after-free a.c:3 in f\nanother\n");
    judged(run, VERDICT_CRASH, "AddressSanitizer: heap-use-after-free a.c:3 in f",
           "crash AddressSanitizer: heap-use-after-free a.c:3 in f");
}

static struct outcome_run aborted(const char *key, const char *err)
{
    struct outcome_run run = usual(0, "", err);
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGABRT;
    run.observation.crash_signal = SIGABRT;
    run.observation.crash = strdup("SIGABRT in x");
    run.observation.crash_key = strdup(key);
    run.observation.crash_in_command = run.observation.crash_by_itself = true;
    return run;
}

// A message and then abort(): the program decided to. A check of the C library, an exception that
// nobody catches and a handler of a fault end in abort(), too.
static void test_deliberate(void **state)
{
    static const char by_program[] = "libc.so.6+0x8a\nraise (libc.so.6)\nabort (libc.so.6)\n"
                                     "die (x)\nmain (x)";
    judged(aborted(by_program, "no memory\n"), VERDICT_DELIBERATE,
           "SIGABRT in x, in die (x) < main (x); stderr: 'no memory'",
           "deliberate SIGABRT in die (x)");
    verdict_is(aborted(by_program, ""), VERDICT_CRASH);
    verdict_is(aborted("abort (libc.so.6)\n__assert_fail (libc.so.6)\nf (x)", "x: failed\n"),
               VERDICT_DELIBERATE);
    verdict_is(aborted("stop (x)\nmain (x)", "stop\n"), VERDICT_DELIBERATE);
    verdict_is(aborted("abort (libc.so.6)\nlibc.so.6+0x7a\nfree (libc.so.6)\nf (x)",
                       "free(): invalid pointer\n"),
               VERDICT_CRASH);
    verdict_is(aborted("abort (libc.so.6)\nlibstdc++.so.6+0x9\nmain (x)", "terminate called\n"),
               VERDICT_CRASH);
    verdict_is(aborted(by_program, "note\n*** bad block ***: terminated\n"), VERDICT_CRASH);
    verdict_is(aborted(by_program, "Aborted\n"), VERDICT_CRASH); // a shell's words
    // GLib and Go have words of their own for the same; GLib's allocator, for damage, too.
    static const char by_glib[] =
        "abort (libc.so.6)\nlibglib-2.0.so.0+0x71f9e\ng_slice_alloc (libglib-2.0.so.0)\nmain (x)";
    verdict_is(aborted(by_glib, "***MEMORY-ERROR***: x[3]: GSlice: failed to allocate 8 bytes\n"),
               VERDICT_DELIBERATE);
    verdict_is(aborted(by_glib, "***MEMORY-ERROR***: x[3]: GSlice: assertion failed\n"),
               VERDICT_CRASH);
    static const char *const words[] = {
        "\n(process:3): GLib-ERROR **: 10:00:00.000: failed to allocate 8 bytes\n",
        "GLib (gthread-posix.c): Unexpected error from C library during 'malloc'. Aborting.\n",
        "runtime/cgo: malloc failed: Cannot allocate memory\n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct outcome_run child = aborted(by_glib, words[i]);
        child.observation.crash_in_command = false;
        verdict_is(child, VERDICT_DELIBERATE);
    }
    struct outcome_run run = aborted(by_program, "no memory\n");
    run.observation.crash_by_itself = false; // sent by another process, or in a fault's handler
    verdict_is(run, VERDICT_CRASH);
    // A process further down: its parent may have said it.
    run = aborted(by_program, "x failed\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_CRASH);
    run = aborted(by_program, "x: no memory\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_DELIBERATE);
    run = aborted(by_program, "no memory\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_DELIBERATE);
    run = aborted(by_program, "sh: lost a child\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_CRASH);
    run = aborted(by_program, "no memory\n");
    run_step(&run.posttest, 1, "", "broken\n");
    verdict_is(run, VERDICT_UNSTABLE);
    run = aborted(by_program, "no memory\n");
    run.service = strdup("the server ended");
    verdict_is(run, VERDICT_CRASH);
    run = aborted(by_program, "no memory\n");
    run.service = strdup("the server ended");
    run.before_ready = true; // it decides not to begin
    verdict_is(run, VERDICT_DELIBERATE);
    // A server that waits for events elsewhere than asked does not hang.
    run = usual(0, "", "hello\n");
    run.workload.end = SANDBOX_TIMEOUT;
    run.service = strdup("the server was not ready");
    run.before_ready = true;
    run.hang_key = strdup("__GI___poll (libc.so.6)\nserve (x)\nmain (x)");
    assert_true(hang_waits_for_events(&run));
    run.down = true;
    verdict_is(run, VERDICT_SILENT);
    run = usual(0, "", "hello\nno such port\n");
    run.workload.end = SANDBOX_TIMEOUT;
    run.service = strdup("the server was not ready");
    run.before_ready = run.down = true;
    verdict_is(run, VERDICT_GRACEFUL);
    run = usual(0, "", "hello\n");
    run.workload.end = SANDBOX_TIMEOUT;
    run.service = strdup("the server was not ready");
    run.hang_key = strdup("read (libc.so.6)\nserve (x)\nmain (x)");
    assert_false(hang_waits_for_events(&run));
    verdict_is(run, VERDICT_HANG);
    // The name of a source file is not that of the process.
    run = aborted(by_program, "no memory (x.c, line 3)\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_DELIBERATE);
    // Whoever ends without a message has not said why, even if the failed call was its own.
    verdict_is(from(aborted(by_program, ""), "/bin/x", "get (x)\ndie (x)\nmain (x)"),
               VERDICT_CRASH);
}

static struct outcome_run sent(int sent_number, int number)
{
    struct outcome_run run = usual(0, "", "");
    run.observation.injections.items[0].signal = sent_number;
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = number;
    return run;
}

// Death by the very signal that was sent is no crash; by another it is.
static void test_sent_signal(void **state)
{
    judged(sent(SIGTERM, SIGTERM), VERDICT_GRACEFUL, "killed by SIGTERM, which was sent to it",
           "graceful exit status after read in fill at in.c:7");
    judged(sent(SIGSEGV, SIGSEGV), VERDICT_GRACEFUL, "killed by SIGSEGV, which was sent to it",
           "graceful exit status after read in fill at in.c:7");
    judged(sent(SIGTERM, SIGSEGV), VERDICT_CRASH, "killed by SIGSEGV",
           "crash SIGSEGV after read in fill at in.c:7");
    struct outcome_run run = sent(SIGTERM, SIGTERM);
    run_step(&run.posttest, 1, "", "lock left behind\n");
    judged(run, VERDICT_UNSTABLE,
           "posttest failed: exit status 1; it says: 'lock left behind'; the workload: killed by "
           "SIGTERM",
           "unstable posttest after read in fill at in.c:7");
    run = sent(SIGSEGV, SIGSEGV);
    run.observation.crash_signal = SIGSEGV;
    run.observation.crash = strdup("SIGSEGV in x");
    judged(run, VERDICT_GRACEFUL, "killed by SIGSEGV, which was sent to it",
           "graceful exit status after read in fill at in.c:7");
}

static void test_graceful(void **state)
{
    judged(usual(1, "", "hello\ncp: error writing 'x'\n"), VERDICT_GRACEFUL,
           "exit status 1 instead of 0; stderr: 'cp: error writing 'x''",
           "graceful exit status after read in fill at in.c:7");
    judged(usual(0, "done\n", "hello\nretrying\n"), VERDICT_GRACEFUL,
           "everything as the reference, but it is reported; stderr: 'retrying'",
           "graceful stderr after read in fill at in.c:7");
}

static void test_unstable(void **state)
{
    struct outcome_run run = usual(1, "", "");
    run_step(&run.posttest, 3, "", "");
    judged(run, VERDICT_UNSTABLE, "posttest failed: exit status 3; the workload: exit status 1",
           "unstable posttest after read in fill at in.c:7");
}

static void test_silent(void **state)
{
    judged(usual(0, "dome\n", "hello\n"), VERDICT_SILENT,
           "stdout differs at line 1: 'dome' instead of 'done'; exit status 0 as without the "
           "fault, nothing "
           "reported",
           "silent result after read in fill at in.c:7");
    judged(run_new(0, "done\n", ""), VERDICT_SILENT,
           "/w/out was not written; exit status 0 as without the fault, nothing reported",
           "silent result after read in fill at in.c:7");
    oracle.compare_stderr = true;
    judged(usual(0, "done\n", ""), VERDICT_SILENT,
           "stderr has 0 lines instead of 1, the first missing: 'hello'; exit status 0 as without "
           "the fault, "
           "nothing reported",
           "silent result after read in fill at in.c:7");
    oracle.compare_stderr = false;
}

static void test_leftovers(void **state)
{
    struct outcome_run run = usual(0, "done\n", "hello\n");
    run_file(&run, "/w/tmp1", "x\n");
    judged(run, VERDICT_SILENT,
           "/w/tmp1 was written, which the reference does not do; exit status 0 as without the "
           "fault, nothing "
           "reported",
           "silent result after read in fill at in.c:7");
    run = usual(0, "dome\n", "hello\n");
    run_file(&run, "/w/tmp1", "x\n");
    judged(run, VERDICT_SILENT,
           "stdout differs at line 1: 'dome' instead of 'done'; /w/tmp1 was written, which the "
           "reference does not do; exit status 0 as without the fault, nothing reported",
           "silent result after read in fill at in.c:7");
    run = run_new(0, "done\n", "hello\n");
    run_file(&run, "/w/out", "other\n");
    run_file(&run, "/w/tmp1", "x\n");
    cause_is(run, "silent result after read in fill at in.c:7");
    // What cannot be removed is left behind, whatever the program does.
    run = writes("unlink", "done\n", "show at l.c:9 (x)");
    run_file(&run, "/w/tmp1", "x\n");
    judged(run, VERDICT_PASS, "as the reference, but for what could not be removed", "pass");
}

static void test_wrong_output(void **state)
{
    judged(usual(0, "", "hello\nwarning: short read\n"), VERDICT_WRONG_OUTPUT,
           "stdout has 0 lines instead of 1, the first missing: 'done'; exit status 0 as without "
           "the fault; "
           "stderr: 'warning: short read'",
           "silent result after what the program reports and ends with 0");
    judged(usual(0, "", "hello\nin.c(17): short\n"), VERDICT_WRONG_OUTPUT,
           "stdout has 0 lines instead of 1, the first missing: 'done'; exit status 0 as without "
           "the fault; "
           "stderr: 'in.c(17): short'",
           "silent result after what the program reports and ends with 0");
}

// 0 where the reference fails: nobody reports an error like that.
static void test_unexpected_success(void **state)
{
    struct reference *before = instead(run_new(2, "", ""), run_new(2, "", ""));
    judged(run_new(0, "", ""), VERDICT_SILENT, "exit status 0 instead of 2",
           "silent exit status after read in fill at in.c:7");
    // What is lost is worse than that.
    struct outcome_run run = run_new(0, "", "");
    run_file_bytes(&run, "/w/notes", ARTIFACT_DELETED, "", 0);
    judged(run, VERDICT_SILENT, "/w/notes was deleted; exit status 0 instead of 2",
           "silent data loss after read in fill at in.c:7");
    back_to(before);
}

static void oracle_says(int status, const char *out, const char *err, enum verdict verdict,
                        const char *reason, const char *cause)
{
    struct outcome_run run = usual(1, "", "");
    run_step(&run.oracle, status, out, err);
    judged(run, verdict, reason, cause);
}

static void test_oracle(void **state)
{
    oracle_says(0, "silent  2 records\033 lost\nmore\n", "", VERDICT_SILENT, "2 records\\x1b lost",
                "silent oracle after read in fill at in.c:7");
    oracle_says(0, "pass", "", VERDICT_PASS, "the oracle command says so",
                "pass oracle after read in fill at in.c:7");
    oracle_says(0, "wrong-output: bad sum", "", VERDICT_WRONG_OUTPUT, "bad sum",
                "wrong-output oracle after read in fill at in.c:7");
    oracle_says(0, "", "", VERDICT_INVALID, "the oracle command printed no verdict", "invalid");
    oracle_says(
        0, "passed all\n", "", VERDICT_INVALID,
        "the oracle command printed 'passed all', which does not begin with a verdict "
        "(crash, hang, silent, wrong-output, unstable, deliberate, graceful, pass, not-activated, "
        "invalid)",
        "invalid");
    oracle_says(2, "pass", "oops\n", VERDICT_INVALID,
                "the oracle command failed: exit status 2; it says: 'oops'", "invalid");
    // What the oracle cannot know: that the command crashed.
    struct outcome_run run = usual(0, "", "");
    run_step(&run.oracle, 0, "pass\n", "");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGBUS;
    judged(run, VERDICT_CRASH, "killed by SIGBUS", "crash SIGBUS after read in fill at in.c:7");
}

// Whatever a target writes, sentences stay sentences.
static void test_long_and_odd(void **state)
{
    judged(usual(1, "", "hello\n\xc3\xa4 \xc2\x9b[m \xff\n"), VERDICT_GRACEFUL,
           "exit status 1 instead of 0; stderr: '\xc3\xa4 \\xc2\\x9b[m \\xff'",
           "graceful exit status after read in fill at in.c:7");
    char text[5000];
    memset(text, 0xc3, sizeof text);
    text[sizeof text - 1] = '\0';
    struct outcome_run run = usual(1, "", text);
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_true(strlen(judgement.reason) < 800);
    assert_non_null(strstr(judgement.reason, "\\xc3\\xc3"));
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass),          cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_not_activated), cmocka_unit_test(test_hang),
        cmocka_unit_test(test_late_crash),    cmocka_unit_test(test_crash),
        cmocka_unit_test(test_deliberate),    cmocka_unit_test(test_sent_signal),
        cmocka_unit_test(test_graceful),      cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_silent),        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_wrong_output),  cmocka_unit_test(test_unexpected_success),
        cmocka_unit_test(test_oracle),        cmocka_unit_test(test_long_and_odd),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
