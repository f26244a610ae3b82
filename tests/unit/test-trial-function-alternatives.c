// SPDX-License-Identifier: GPL-3.0-or-later
// Which functions a rule's author may have meant as well.
#include "trial-help.h"

#include "trial/function-alternatives.h"

static void other_spellings_and_relatives(void **state)
{
    static const struct {
        const char *one, *two;
        bool answer;
    } cases[] = {
        {"pwrite", "pwrite64", true},
        {"pwrite64", "pwrite", true},
        {"open", "open64", true},
        {"open", "openat", true},
        {"openat64", "open", true},
        {"open", "__open_2", true},
        {"open", "__open64_2", true},
        {"printf", "__printf_chk", true},
        {"sscanf", "__isoc99_sscanf", true},
        {"read", "copy_file_range", true},
        {"stat", "__xstat64", true},
        {"read", "read", false},
        {"read", "write", false},
        {"open", "close", false},
        {"open", "", false},
        {"", "", false},
        {"64", "__", false},
        {"dup", "dup2", true},
        {"execv", "execve", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (function_alternatives(cases[i].one, cases[i].two) != cases[i].answer)
            fail_msg("%s and %s", cases[i].one, cases[i].two);
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(function_alternatives(name, "open"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_spellings_and_relatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
