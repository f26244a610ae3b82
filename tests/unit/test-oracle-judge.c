// SPDX-License-Identifier: GPL-3.0-or-later
// Every verdict, with its reason and the key by which trials are grouped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run-help.h"

#include <signal.h>

static struct oracle oracle = {.references = 2, .compare_stdout = true, .compare_files = true};
static struct reference *reference;

static int setup(void **state)
{
    if (victim_setup(state) != 0)
        return -1;
    good(reference_new(&oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "done\n", "hello\n");
        run_file(&run, "/w/out", "content\n");
        refer(reference, run);
    }
    good(reference_settle(reference));
    return 0;
}

static int teardown(void **state)
{
    reference_free(reference);
    return victim_teardown(state);
}

// Another reference for a while; both are taken. The one before is returned.
static struct reference *instead(struct outcome_run first, struct outcome_run second)
{
    struct reference *before = reference;
    good(reference_new(&oracle, &reference));
    refer(reference, first);
    refer(reference, second);
    good(reference_settle(reference));
    return before;
}

static void back_to(struct reference *before)
{
    reference_free(reference);
    reference = before;
}

// As the reference, so far.
static struct outcome_run usual(int status, const char *out, const char *err)
{
    struct outcome_run run = run_new(status, out, err);
    run_file(&run, "/w/out", "content\n");
    return run;
}

// Takes the run.
static void judged(struct outcome_run run, enum verdict verdict, const char *reason,
                   const char *cause)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.reason, reason);
    assert_string_equal(verdict_facts[judgement.verdict].name, verdict_facts[verdict].name);
    assert_string_equal(judgement.cause, cause);
    for (const char *at = judgement.reason; *at != '\0'; at++)
        assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

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

// A loop over a failing call is known by the call, not by where it was met.
static void test_repeated(void **state)
{
    static const char *const keys[] = {"f (x)\nmain (x)", "main (x)"};
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = usual(0, "", "");
        run.workload.end = SANDBOX_TIMEOUT;
        run.workload.ns = 2000000000;
        run.hang_key = strdup(keys[i]);
        for (int j = 0; j < 60; j++) {
            struct injection *injection = ARRAY_ADD(&run.observation.injections);
            *injection = (struct injection){
                .function = strdup("write"), .symbol = strdup("put"), .module = strdup("/x")};
        }
        judged(run, VERDICT_HANG,
               i == 0 ? "not done after 2 s, in f (x) < main (x); write in put of /x fails again "
                        "and again"
                      : "not done after 2 s, in main (x); write in put of /x fails again and again",
               "hang repeating write in put of /x");
    }
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

static void verdict_is(struct outcome_run run, enum verdict verdict)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_int_equal(judgement.verdict, verdict);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

// Gives the injection a stack, in a function of this module.
static struct outcome_run from(struct outcome_run run, const char *module, const char *stack)
{
    struct injection *injection = &run.observation.injections.items[0];
    free(injection->module);
    injection->module = strdup(module);
    injection->stack = strdup(stack);
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
    // The name of a source file is not that of the process.
    run = aborted(by_program, "no memory (x.c, line 3)\n");
    run.observation.crash_in_command = false;
    verdict_is(run, VERDICT_DELIBERATE);
    // Whoever ends without a message has not said why, even if the failed call was its own.
    verdict_is(from(aborted(by_program, ""), "/bin/x", "get (x)\ndie (x)\nmain (x)"),
               VERDICT_CRASH);
}

static struct outcome_run crashed(const char *key, const char *stack)
{
    struct outcome_run run = usual(0, "", "");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGSEGV;
    run.observation.crash_signal = SIGSEGV;
    run.observation.crash = strdup("SIGSEGV at 0x0 in x");
    run.observation.crash_key = strdup(key);
    run.observation.crash_stack = stack != NULL ? strdup(stack) : NULL;
    run.observation.crash_in_command = true;
    return run;
}

static void cause_is(struct outcome_run run, const char *cause)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.cause, cause);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

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

// One cause is one line, whoever called; two calls that fail in a function on the stack are two.
static void test_crash_causes(void **state)
{
    cause_is(crashed("strlen (libc.so.6)\nuse (x)\nmain (x)",
                     "strlen (libc.so.6)\nuse at u.c:3 (x)\nmain at m.c:8 (x)"),
             "crash SIGSEGV in use (x) at u.c:3");
    cause_is(crashed("strlen (libc.so.6)\nuse (x)\nother (x)",
                     "strlen (libc.so.6)\nuse at u.c:3 (x)\nother at o.c:8 (x)"),
             "crash SIGSEGV in use (x) at u.c:3");
    cause_is(crashed("use (x)\nfill (x)\nmain (x)", NULL),
             "crash SIGSEGV in use (x) after read in fill at in.c:7");
    cause_is(crashed("x+0x10\nx+0x20\nx+0x30", NULL), "crash SIGSEGV in x+0x10");
}

// A failure is that of the call of the C library, not of what it calls inside.
static void test_origins_in_libc(void **state)
{
    static const char direct[] = "fill at in.c:7 (x)\nmain at m.c:1 (x)",
                      inside[] = "strdup (libc.so.6)\nfill at in.c:7 (x)\nmain at m.c:1 (x)",
                      crash[] = "strlen (libc.so.6)\nfill (x)\nmain (x)",
                      placed[] = "strlen (libc.so.6)\nfill at in.c:9 (x)\nmain at m.c:1 (x)";
    static const char cause[] = "crash SIGSEGV in fill (x) at in.c:9 after fill at in.c:7 (x)";
    cause_is(from(crashed(crash, placed), "/bin/x", direct), cause);
    cause_is(from(crashed(crash, placed), "/lib/libc.so.6", inside), cause);
    cause_is(from(usual(0, "", ""), "/bin/x", direct), "silent result after fill at in.c:7 (x)");
    cause_is(from(usual(0, "", ""), "/lib/libc.so.6", inside),
             "silent result after fill at in.c:7 (x)");
    // Without a line the function tells calls apart.
    cause_is(from(usual(0, "", ""), "/lib/libc.so.6",
                  "create (libc.so.6)\n__GI___regcomp (libc.so.6)\nfill (x)"),
             "silent result after regcomp in fill (x)");
    // The C library did not survive its own failure, whoever called it.
    static const char own[] = "reload (libc.so.6)\ngetpwuid (libc.so.6)\nwho at w.c:2 (x)";
    cause_is(from(crashed("reload (libc.so.6)\ngetpwuid (libc.so.6)\nwho (x)", own),
                  "/lib/libc.so.6", "allocate (libc.so.6)\ngetpwuid (libc.so.6)\nwho at w.c:2 (x)"),
             "crash SIGSEGV in reload (libc.so.6)");
    cause_is(from(crashed("reload (libc.so.6)\ngetpwuid (libc.so.6)\nwho (x)", own),
                  "/lib/libc.so.6", "strdup (libc.so.6)\nwho at w.c:1 (x)"),
             "crash SIGSEGV in who (x) at w.c:2 after who at w.c:1 (x)");
    // Where a damaged heap is noticed is chance.
    cause_is(from(crashed("raise (libc.so.6)\nmalloc_printerr (libc.so.6)\nfree (libc.so.6)\n"
                          "clean (libc.so.6)\nwho (x)",
                          "raise (libc.so.6)\nmalloc_printerr (libc.so.6)\nfree (libc.so.6)\n"
                          "clean (libc.so.6)\nwho at w.c:2 (x)"),
                  "/lib/libc.so.6",
                  "grow at g.c:3 (libc.so.6)\nregcomp (libc.so.6)\nwho at w.c:2 (x)"),
             "crash SIGSEGV in a damaged heap after grow (libc.so.6)");
}

// A failure that a library hands up to its caller is that of the caller's call.
static void test_origins_in_callers(void **state)
{
    static const char crash[] = "use (lib.so)\nmain (x)",
                      placed[] = "use at l.c:1 (lib.so)\nmain at m.c:5 (x)";
    cause_is(from(crashed(crash, placed), "/bin/x", "main at m.c:4 (x)"),
             "crash SIGSEGV in use (lib.so) at l.c:1 after main at m.c:4 (x)");
    cause_is(from(crashed(crash, placed), "/w/lib.so", "new at l.c:9 (lib.so)\nmain at m.c:4 (x)"),
             "crash SIGSEGV in use (lib.so) at l.c:1 after main at m.c:4 (x)");
    // Both inside one call: the library's own bug, whoever called.
    cause_is(from(crashed(crash, placed), "/w/lib.so", "new at l.c:9 (lib.so)\nmain at m.c:5 (x)"),
             "crash SIGSEGV in use (lib.so) at l.c:1");
    // main() is on all stacks; far away it says nothing.
    cause_is(from(crashed("use (x)\na (x)\nb (x)\nc (x)\nd (x)\nmain (x)", NULL), "/bin/x",
                  "new at n.c:9 (x)\nmain at m.c:4 (x)"),
             "crash SIGSEGV in use (x)");
    // Without names: the same function by its code.
    cause_is(from(crashed("x+0x50 {0badc0de+0x10}\nx+0x20 {00c0ffee+0x20}", NULL), "/bin/x",
                  "x+0x18 {00c0ffee+0x18}\nx+0x99 {11111111+0x9}"),
             "crash SIGSEGV in {0badc0de+0x10} after read in {00c0ffee+0x18}");
}

static struct outcome_run writes(const char *function, const char *out, const char *stack)
{
    struct outcome_run run = from(usual(0, out, ""), "/bin/x", stack);
    struct injection *injection = &run.observation.injections.items[0];
    free(injection->function);
    injection->function = strdup(function);
    free(injection->program);
    injection->program = strdup("x");
    return run;
}

// A process that says what is wrong and fails. Takes whether the command itself started it.
static struct outcome_run ignored(bool child)
{
    struct outcome_run run = from(usual(0, "", "x: no memory\n"), "/bin/x", "show at l.c:9 (x)");
    struct injection *injection = &run.observation.injections.items[0];
    free(injection->program);
    injection->program = strdup("x");
    injection->failed = true;
    injection->process = 3;
    injection->child = child;
    return run;
}

// One check is missing for all that is written to a stream, and one where a failure is ignored.
static void test_streams_and_ignored_failures(void **state)
{
    cause_is(writes("fputs", "", "list at l.c:1 (x)"), "silent stdout after a stream of x");
    cause_is(writes("__printf_chk", "", "show at l.c:9 (x)"), "silent stdout after a stream of x");
    cause_is(writes("gpgrt_printf", "", "show at l.c:9 (x)"), "silent stdout after a stream of x");
    cause_is(writes("malloc", "", "show at l.c:9 (x)"), "silent result after show at l.c:9 (x)");
    struct outcome_run run = writes("malloc", "", "show at l.c:9 (x)");
    run.observation.injections.items[0].failed = true;
    run.observation.injections.items[0].process = 1;
    cause_is(run, "silent result after show at l.c:9 (x)");
    run = writes("malloc", "", "show at l.c:9 (x)");
    run.observation.injections.items[0].failed = true;
    run.observation.injections.items[0].process = 3;
    cause_is(run, "silent result after show at l.c:9 (x)"); // perhaps it always ends so
    cause_is(ignored(false), "silent result after an ignored failure of x");
    cause_is(ignored(true), "silent result after failures that the command ignores");
    // One check for all that goes to standard output, wherever that is.
    run = writes("_IO_file_write", "", "show at l.c:9 (x)");
    run.observation.injections.items[0].standard_stream = 1;
    cause_is(run, "silent result after stream 1 of x");
    // One check for all calls that read: at the end of the stream.
    cause_is(writes("getc", "", "x+0x18 {00c0ffee+0x18}"),
             "silent result after reading the input of x");
    run = writes("getc", "", "x+0x18 {00c0ffee+0x18}");
    run.observation.injections.items[0].read_stream = strdup("x+0x30 {0badc0de+0x3}");
    cause_is(run, "silent result after reading a stream of {0badc0de}");
}

// If the program looks at the result, which call failed does not matter; nor if it ends itself.
static void test_handled_failures(void **state)
{
    struct outcome_run run =
        from(crashed("log (x)\nmain (x)", NULL), "/bin/x", "main at m.c:4 (x)");
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.cause, "crash SIGSEGV in log (x) after main at m.c:4 (x)");
    assert_string_equal(judgement.handled, "crash SIGSEGV in log (x)");
    judgement_deinit(&judgement);
    run.observation.crash_by_itself = true;
    run.observation.system_libraries = strdup("libc.so.6\nx\n");
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.cause, "crash SIGSEGV in log (x)");
    assert_null(judgement.handled);
    assert_string_equal(judgement.library, "x");
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

static void library_is(struct outcome_run run, const char *library)
{
    struct judgement judgement = {0};
    run.observation.system_libraries = strdup("libc.so.6\nlibstdc++.so.6\nlibz.so.1\n");
    good(judge(reference, &run, &judgement));
    if (library == NULL)
        assert_null(judgement.library);
    else
        assert_string_equal(judgement.library, library);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

// An exception that nobody catches is the bug of whoever it was thrown in.
static void test_blame(void **state)
{
    library_is(crashed("abort (libc.so.6)\nlibstdc++.so.6+0x9\noperator new (libstdc++.so.6)\n"
                       "main (x)",
                       NULL),
               NULL);
    library_is(
        crashed("abort (libc.so.6)\nlibstdc++.so.6+0x9\ninflate (libz.so.1)\nmain (x)", NULL),
        "libz.so.1");
    library_is(crashed("inflate (libz.so.1)\nmain (x)", NULL), "libz.so.1");
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
           "silent result after read in fill at in.c:7");
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
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_not_activated),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_late_crash),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_crash_causes),
        cmocka_unit_test(test_origins_in_libc),
        cmocka_unit_test(test_origins_in_callers),
        cmocka_unit_test(test_streams_and_ignored_failures),
        cmocka_unit_test(test_handled_failures),
        cmocka_unit_test(test_sent_signal),
        cmocka_unit_test(test_graceful),
        cmocka_unit_test(test_deliberate),
        cmocka_unit_test(test_blame),
        cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_symptom_is_of_the_verdict),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_reported_in_a_file),
        cmocka_unit_test(test_reported_in_a_file_that_varies),
        cmocka_unit_test(test_copied_words),
        cmocka_unit_test(test_words_beyond_what_is_kept),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_wrong_output),
        cmocka_unit_test(test_unexpected_success),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_long_and_odd),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
