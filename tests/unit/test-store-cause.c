// SPDX-License-Identifier: GPL-3.0-or-later
// Causes without what differs between builds.
#include "base/cleanup.h"
#include "store/cause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void is(const char *cause, const char *stable)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    assert_null(cause_put_stable(&text, cause));
    assert_string_equal(text.data, stable);
}

static void what_moves_is_left_out(void **state)
{
    is("crash SIGSEGV in f (cp) at /home/me/src/a.c:23 after fopen in g at b.c:7",
       "crash SIGSEGV in f (cp) at a.c after fopen in g at b.c");
    is("silent files after write at /usr/bin/cp+0x1a2f", "silent files after write at cp");
    is("crash x at a.rs:12:5", "crash x at a.rs");
}

static void what_stays_is_kept(void **state)
{
    is("", "");
    is("hang somewhere", "hang somewhere");
    is("  two  blanks ", "  two  blanks ");
    // Neither a line nor an address.
    is("crash in std::vector<int>::at 12 f2 :7 +0xab",
       "crash in std::vector<int>::at 12 f2 :7 +0xab");
    is("wrong-output abc:", "wrong-output abc:");
}

static void causes_are_compared(void **state)
{
    bool same;
    assert_null(cause_is_same("a at /x/f.c:1", "a at /y/f.c:22", &same));
    assert_true(same);
    assert_null(cause_is_same("a at f.c:1", "a at g.c:1", &same));
    assert_false(same);
    assert_null(cause_is_same("", "", &same));
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_is_left_out),
        cmocka_unit_test(what_stays_is_kept),
        cmocka_unit_test(causes_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
