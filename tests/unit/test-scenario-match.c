// SPDX-License-Identifier: GPL-3.0-or-later
// `match` counts the calls that fit what stands to its left, and nothing hides one from it.
#include "scenario-help.h"

// Of calls whose first argument is 0, 1, 2, 0, 1, 2, ...: the numbers of those that hit.
static void hits(const char *condition, const char *expected)
{
    char spec[256], found[256] = "";
    snprintf(spec, sizeof spec, "f=0 when %s", condition);
    _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
    struct call call = {0};
    for (call.count = 1; call.count <= 24; call.count++) {
        call.arguments[0] = (call.count - 1) % 3;
        if (gate_is_open(&plan.rules[0], &call) && evaluate(&plan, 0, &call) != 0)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%d ", (int)call.count);
    }
    if (strcmp(found, expected) != 0)
        fail_msg("%s hits %s, not %s", condition, found, expected);
}

static void test_match(void **state)
{
    hits("match == 3", "3 ");
    hits("arg(1) == 1 and match == 3", "8 ");
    hits("match == 3 and arg(1) == 2", "3 ");
    hits("match == 3 and arg(1) == 1", "");
    hits("count > 6 and arg(1) == 1 and match == 2", "11 ");
    hits("arg(1) == 1 and match in 2..4", "5 8 11 ");
    hits("arg(1) == 1 and match in 7..", "20 23 ");
    hits("arg(1) == 1 and match in 2..2", "5 ");
    hits("arg(1) == 1 and match in -5..1", "2 ");
    hits("arg(1) == 1 and match in -5..-1", "");
    hits("arg(1) == 1 and match in 5..9223372036854775807", "14 17 20 23 ");
    hits("arg(1) == 1 and match in 9223372036854775806..9223372036854775807", "");
    hits("match in 20..9000000000", "20 21 22 23 24 ");
    hits("match in 9..11", "9 10 11 ");
    hits("arg(1) == 1 and not match in 1..6", "20 23 ");
    hits("arg(1) == 1 and match % 4 == 0", "11 23 ");
    hits("(arg(1) == 1 and match == 2) or count == 9", "5 9 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
