// SPDX-License-Identifier: GPL-3.0-or-later
// The key by which failed trials are grouped, and who is to blame.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge-help.h"

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
    // A function without a line makes several calls: one fails, and another gets what it returned.
    cause_is(from(crashed("strlen (libc.so.6)\nsetup (libt.so)\nmain (x)", NULL), "/lib/libc.so.6",
                  "strdup (libc.so.6)\nsetup (libt.so)\nmain (x)"),
             "crash SIGSEGV in setup (libt.so) after strdup in setup (libt.so)");
    cause_is(from(crashed("get (libc.so.6)\n__GI___regcomp (libc.so.6)\nsetup (libt.so)", NULL),
                  "/lib/libc.so.6", "regcomp (libc.so.6)\nsetup (libt.so)\nmain (x)"),
             "crash SIGSEGV in get (libc.so.6)");
    // main() is on all stacks; far away it says nothing.
    cause_is(from(crashed("use (x)\na (x)\nb (x)\nc (x)\nd (x)\nmain (x)", NULL), "/bin/x",
                  "new at n.c:9 (x)\nmain at m.c:4 (x)"),
             "crash SIGSEGV in use (x)");
    // Without names: the same function by its code.
    cause_is(from(crashed("x+0x50 {0badc0de+0x10}\nx+0x20 {00c0ffee+0x20}", NULL), "/bin/x",
                  "x+0x18 {00c0ffee+0x18}\nx+0x99 {11111111+0x9}"),
             "crash SIGSEGV in {0badc0de+0x10} after read in {00c0ffee+0x18}");
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
    // Whoever started it is to blame, whichever program failed.
    run = ignored(false);
    run.observation.injections.items[0].parent = strdup("awk");
    cause_is(run, "silent result after failures that awk ignores");
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
    library_is(crashed("____longjmp_chk (libc.so.6)", NULL), NULL); // from wherever it was called
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_crash_causes),
        cmocka_unit_test(test_origins_in_libc),
        cmocka_unit_test(test_origins_in_callers),
        cmocka_unit_test(test_streams_and_ignored_failures),
        cmocka_unit_test(test_handled_failures),
        cmocka_unit_test(test_blame),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
