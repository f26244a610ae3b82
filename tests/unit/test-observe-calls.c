// SPDX-License-Identifier: GPL-3.0-or-later
// The table of system calls is complete: every call of the kernel's header files is in it, with its
// number, and its columns make sense.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/linux-calls.h"

#include <stdio.h>
#include <string.h>

static void check_header(const char *path, bool i386)
{
    FILE *file = fopen(path, "re");
    char line[256], name[128];
    int number, found = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "#define __NR_%127s %d", name, &number) != 2)
            continue;
        const struct linux_call *call = linux_call_find(name);
        if (call == NULL)
            fail_msg("%s is not in linux-calls.tab", name);
        assert_int_equal(i386 ? call->number_i386 : call->number, number);
        assert_ptr_equal(linux_call_by_number(number, i386), call);
        found++;
    }
    fclose(file);
    assert_true(found > 300);
    // Nothing more is in the table.
    for (size_t i = 0; i < linux_call_count(); i++)
        found -= (i386 ? linux_call_at(i)->number_i386 : linux_call_at(i)->number) != CALL_NONE;
    assert_int_equal(found, 0);
}

static void every_call_of_the_kernel_is_there(void **state)
{
    check_header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", false);
    check_header("/usr/include/x86_64-linux-gnu/asm/unistd_32.h", true);
}

static void names_are_there_once(void **state)
{
    for (size_t i = 0; i < linux_call_count(); i++)
        assert_ptr_equal(linux_call_find(linux_call_at(i)->name), linux_call_at(i));
}

static void letters_are_known_and_pairs_complete(void **state)
{
    for (size_t i = 0; i < linux_call_count(); i++) {
        const struct linux_call *call = linux_call_at(i);
        const char *letters = call->arguments;
        size_t count = strlen(letters);
        assert_true(count <= 6);
        assert_int_equal(strspn(letters, ".fdpsinuzxoeHbwvmMrVgatTUk"), count);
        if (call->visible == CALL_NEVER)
            assert_int_equal(count, 0);
        for (size_t j = 0; j < count; j++) {
            if (letters[j] == CALL_ARG_DIRECTORY && letters[j + 1] != CALL_ARG_PATH)
                fail_msg("%s: a directory without a path", call->name);
            if (strchr("bwrvV", letters[j]) != NULL && letters[j + 1] != CALL_ARG_SIZE)
                fail_msg("%s: data without a size", call->name);
        }
        bool first = call->visible == CALL_FILE || call->visible == CALL_OUTSIDE ||
                     call->visible == CALL_INCOMING || call->visible == CALL_LOCKS ||
                     call->visible == CALL_DEVICE;
        if (first && letters[0] != CALL_ARG_DESCRIPTOR)
            fail_msg("%s depends on its descriptor, which it does not have", call->name);
    }
}

static void unknown_numbers_are_no_calls(void **state)
{
    assert_null(linux_call_by_number(-1, false));
    assert_null(linux_call_by_number(100000, false));
    assert_null(linux_call_by_number(1023, true));
    assert_null(linux_call_find("no_such_call"));
    assert_null(linux_call_of_socketcall(0));
    assert_null(linux_call_of_socketcall(99));
    assert_string_equal(linux_call_of_socketcall(9)->name, "sendto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_the_kernel_is_there),
        cmocka_unit_test(names_are_there_once),
        cmocka_unit_test(letters_are_known_and_pairs_complete),
        cmocka_unit_test(unknown_numbers_are_no_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
