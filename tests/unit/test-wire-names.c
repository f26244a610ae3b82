// SPDX-License-Identifier: GPL-3.0-or-later
// Names of functions as programs import them, and what they stand for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/names.h"

#include <string.h>

static void assert_plain(const char *name, const char *expected)
{
    char plain[WIRE_PLAIN_NAME], all[256] = "";
    for (size_t state = 0; wire_plain_name(name, &state, plain);)
        strcat(strcat(all, plain), " ");
    assert_string_equal(all, expected);
}

static void test_what_is_left_without_prefix_and_suffix(void **state)
{
    assert_plain("open", "open ");
    assert_plain("open64", "open open64 ");
    assert_plain("__open64_2", "open open64 open64_2 __open __open64 __open64_2 ");
    assert_plain("__isoc99_fscanf", "fscanf isoc99_fscanf __isoc99_fscanf ");
    assert_plain("fputs_unlocked", "fputs fputs_unlocked ");
    assert_plain("__fgets_unlocked_chk",
                 "fgets fgets_unlocked fgets_unlocked_chk __fgets __fgets_unlocked "
                 "__fgets_unlocked_chk ");
    assert_plain("64", "64 ");
    assert_plain("", "");
    char longest[2 * WIRE_PLAIN_NAME];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_plain(longest, "");
}

// The cheap question never says no where there is something to find.
static void test_decorated_names(void **state)
{
    static const char *const names[] = {"open",   "open64",   "__open_2",       "_IO_putc", "read",
                                        "unlink", "fseeko64", "fputs_unlocked", "_2",       "64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char plain[WIRE_PLAIN_NAME];
        int others = 0;
        for (size_t at = 0; wire_plain_name(names[i], &at, plain);)
            others |= strcmp(plain, names[i]) != 0;
        if (others)
            assert_true(wire_is_decorated(names[i], strlen(names[i])));
    }
    for (size_t i = 0; i < WIRE_NAME_SUFFIXES; i++) {
        size_t size = strlen(wire_name_suffixes[i]);
        assert_int_equal(wire_suffix_sizes[i], size);
        char name[32] = "x";
        strcat(name, wire_name_suffixes[i]);
        assert_int_equal(wire_is_decorated(name, size + 1), size != 0);
    }
    assert_false(wire_is_decorated("open", 4));
    assert_false(wire_is_decorated("read", 4));
    assert_false(wire_is_decorated("unlink", 6));
}

static void test_system_libraries(void **state)
{
    assert_true(wire_is_system("libc.so.6"));
    assert_true(wire_is_system("ld-linux-x86-64.so.2"));
    assert_true(wire_is_system("libm.so.6"));
    assert_false(wire_is_system("libcrypto.so.3"));
    assert_false(wire_is_system("libmagic.so.1"));
    assert_false(wire_is_system(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_without_prefix_and_suffix),
        cmocka_unit_test(test_decorated_names),
        cmocka_unit_test(test_system_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
