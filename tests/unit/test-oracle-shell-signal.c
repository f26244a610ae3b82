// SPDX-License-Identifier: GPL-3.0-or-later
// What shells say of processes that died, and what only looks like it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/shell-signal.h"

#include <signal.h>
#include <string.h>

static int find(const char *text)
{
    return shell_signal_find(text, strlen(text));
}

static void test_reports(void **state)
{
    assert_int_equal(find("Segmentation fault\n"), SIGSEGV);
    assert_int_equal(find("a\nSegmentation fault (core dumped)"), SIGSEGV);
    assert_int_equal(find("x.sh: line 3:  1234 Bus error               ./a b\n"), SIGBUS);
    assert_int_equal(find("x.sh: line 3:  1234 Aborted                 (core dumped) ./a\n"),
                     SIGABRT);
    assert_int_equal(find("bash: line 1: 77 Aborted ./a\n"), SIGABRT);
    assert_int_equal(find("make: *** [Makefile:2: x] Illegal instruction (core dumped)\n"), SIGILL);
    assert_int_equal(find("Floating point exception\n"), SIGFPE);
}

static void test_others(void **state)
{
    assert_int_equal(find(""), 0);
    assert_int_equal(shell_signal_find(NULL, 0), 0);
    assert_int_equal(find("Aborted\nTerminated\n"), 0);
    assert_int_equal(find("Killed (core dumped)\n"), 0);
    assert_int_equal(find("error: Segmentation fault in the plug-in was handled\n"), 0);
    assert_int_equal(find("NoSegmentation fault (core dumped)\n"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
