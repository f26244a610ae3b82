// SPDX-License-Identifier: GPL-3.0-or-later
// Complaints of sanitizers and valgrind: from texts, and from the real tools where they are
// installed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/sanitizer-report.h"
#include "victim.h"

#include <time.h>

static void expect(const char *text, const char *expected)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    good(sanitizer_report_scan(text, strlen(text), &list));
    assert_string_equal(list.data != NULL ? list.data : "", expected);
}

static void test_nothing(void **state)
{
    expect("", "");
    expect("all is well\n== a headline ==\n", "");
    expect("panic: runtime error: index out of range [5] with length 3\n", ""); // Go
    expect("SUMMARY: AddressSanitizer", "");
    expect("the word Sanitizer: is no complaint\n", "");
    expect("==12== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)\n", "");
    expect("==x== ERROR SUMMARY: 1 errors\n", "");
}

static void test_sanitizers(void **state)
{
    expect("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n"
           "    #0 0x55 in f /src/a.c:3:4\n"
           "SUMMARY: AddressSanitizer: heap-use-after-free /src/a.c:3:4 in f\n",
           "AddressSanitizer: heap-use-after-free /src/a.c:3:4 in f\n");
    expect("SUMMARY: AddressSanitizer: SEGV (/bin/x+0x1234) in f\n",
           "AddressSanitizer: SEGV (/bin/x+0x1234) in f\n");
    expect("==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55)\n",
           "AddressSanitizer: SEGV on unknown address 0x..\n");
    expect("SUMMARY: ThreadSanitizer: data race a.c:5 in g\r\n", // as some log collectors do
           "ThreadSanitizer: data race a.c:5 in g\n");
    expect("==9==ERROR: LeakSanitizer: detected memory leaks\n\n"
           "Direct leak of 7 byte(s) in 1 object(s) allocated from:\n"
           "    #0 0x7f in malloc (/lib/x86_64-linux-gnu/libasan.so.8+0xb4fa1)\n"
           "    #1 0x55 in open_log /src/log.c:9\n"
           "    #2 0x55 in main /src/main.c:1\n\n"
           "SUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s).\n",
           "AddressSanitizer: memory leak in open_log /src/log.c:9\n");
    expect("a.c:3:9: runtime error: load of misaligned address 0x7ffe12 for type 'int'\n"
           "a.c:3:9: runtime error: load of misaligned address 0x7ffe34 for type 'int'\n"
           "b.c:4:1: runtime error: division by zero\n"
           "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior a.c:3:9\n",
           "UndefinedBehaviorSanitizer: load of misaligned address 0x.. for type 'int' at a.c:3:9\n"
           "UndefinedBehaviorSanitizer: division by zero at b.c:4:1\n");
}

static void test_valgrind(void **state)
{
    expect("==12== Invalid read of size 4\n"
           "==12==    at 0x109151: f (a.c:4)\n"
           "==12==    by 0x109171: main (a.c:9)\n"
           "==12==  Address 0x4a8b044 is 0 bytes after a block of size 4 alloc'd\n"
           "==12==    at 0x48407B4: malloc (vg_replace_malloc.c:381)\n"
           "==12==    by 0x109141: main (a.c:8)\n"
           "==12== \n"
           "==12== 3 bytes in 1 blocks are still reachable in loss record 1 of 2\n"
           "==12==    at 0x48407B4: malloc (vg_replace_malloc.c:381)\n"
           "==12==    by 0x109141: other (a.c:8)\n"
           "==12== \n"
           "==12== 4 bytes in 1 blocks are definitely lost in loss record 2 of 2\n"
           "==12==    at 0x48407B4: malloc (vg_replace_malloc.c:381)\n"
           "==12==    by 0x109141: g (a.c:8)\n"
           "==12== \n"
           "==12== ERROR SUMMARY: 2 errors from 2 contexts (suppressed: 0 from 0)\n",
           "valgrind: Invalid read of size 4 in f (a.c:4)\n"
           "valgrind: memory definitely lost in g (a.c:8)\n");
    expect(
        "==12== Process terminating with default action of signal 11 (SIGSEGV)\n"
        "==12==  Access not within mapped region at address 0x0\n"
        "==12==    at 0x109151: f (a.c:4)\n"
        "==12== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)\n",
        "valgrind: Process terminating with default action of signal 11 (SIGSEGV) in f (a.c:4)\n");
    expect("==12== ERROR SUMMARY: 3 errors from 1 contexts (suppressed: 0 from 0)\n",
           "valgrind: errors\n");
}

// However much is said, the list is short and has no line twice.
static void test_flood(void **state)
{
    _cleanup_(buffer_deinit) struct buffer text = {0}, list = {0};
    for (int i = 0; i < 20000; i++)
        good(buffer_printf(&text, "a.c:%d:1: runtime error: overflow\n", i % 300));
    good(sanitizer_report_scan(text.data, text.size, &list));
    size_t lines = 0;
    for (size_t i = 0; i < list.size; i++)
        lines += list.data[i] == '\n';
    assert_int_equal(lines, 20);
}

static void test_paths(void **state)
{
    char *command[] = {"valgrind", "--log-file=vg.%p.log", "./x", NULL};
    char *environment[] = {"ASAN_OPTIONS=detect_leaks=1:log_path=/var/log/asan:abort_on_error=0",
                           "UBSAN_OPTIONS=log_path='ub'",
                           "TSAN_OPTIONS=log_path=stderr",
                           "VALGRIND_OPTS=-q --log-file=/v/%n",
                           "OTHER=log_path=/no",
                           NULL};
    sanitizer_report_paths paths = {0};
    good(sanitizer_report_find_paths(command, environment, "/home/me", &paths));
    static const char *const expected[] = {"/var/log/asan", "/home/me/ub", "/v/", "/home/me/vg."};
    assert_int_equal(paths.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(paths.items[i], expected[i]);
    sanitizer_report_paths_deinit(&paths);
}

static void test_files(void **state)
{
    static const char report[] = "SUMMARY: AddressSanitizer: heap-buffer-overflow a.c:1 in f\n";
    struct timespec old = {.tv_sec = 1}, future = {.tv_sec = time(NULL) + 1000};
    victim_write("log[1].77", report, sizeof report - 1, 0644);
    sanitizer_report_paths paths = {0};
    char *environment[] = {"ASAN_OPTIONS=log_path=/log[1]", NULL};
    good(sanitizer_report_find_paths(NULL, environment, "/", &paths));
    _cleanup_(buffer_deinit) struct buffer list = {0};
    good(
        sanitizer_report_scan_files(&paths, victim_directory, &future, &list)); // of an earlier run
    assert_int_equal(list.size, 0);
    good(sanitizer_report_scan_files(&paths, victim_directory, &old, &list));
    assert_string_equal(list.data, "AddressSanitizer: heap-buffer-overflow a.c:1 in f\n");
    sanitizer_report_paths_deinit(&paths);
}

// What a real program says under a real tool, whose wording is its own.
static void real(const char *flags, const char *source, const char *run, const char *expected)
{
    victim_build(victim_compiler(), "real", source, flags);
    victim_run("%s ./real >log 2>&1 </dev/null", run);
    _cleanup_(buffer_deinit) struct buffer log = {0}, list = {0};
    good(buffer_read_file(victim_path("log"), 1 << 20, &log));
    good(sanitizer_report_scan(log.data, log.size, &list));
    if (list.data == NULL || strstr(list.data, expected) == NULL)
        fail_msg("'%s' not found in '%s', from:\n%s", expected, list.data, log.data);
}

static void test_real(void **state)
{
    static const char overflow[] = "#include <stdlib.h>\n"
                                   "int *p; int f(int i) { return p[i]; }\n"
                                   "int main(int c, char **v) { p = malloc(4); int r = f(c);\n"
                                   "  free(p); return r & 0; }\n";
    static const char undefined[] = "int main(int c, char **v) { volatile int r = 2147483647 + c;\n"
                                    "  return r == 5; }\n";
    real("-g -fsanitize=address", overflow, "ASAN_OPTIONS=detect_leaks=0",
         "AddressSanitizer: heap-buffer-overflow");
    real("-g -fsanitize=undefined", undefined, "", "UndefinedBehaviorSanitizer: signed integer");
    if (victim_has("valgrind"))
        real("-g", overflow, "valgrind", "valgrind: Invalid read of size 4 in f (real.c:2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),  cmocka_unit_test(test_sanitizers),
        cmocka_unit_test(test_valgrind), cmocka_unit_test(test_flood),
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
