// SPDX-License-Identifier: GPL-3.0-or-later
// The table of lines that tell of errors: each rule by its own examples, and what texts may have.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/told.h"

#include <regex.h>
#include <string.h>

static struct told tell(const char *line, enum told_where where)
{
    return told_by(line, strlen(line), where);
}

static bool fits(const struct told_rule *rule, const char *line)
{
    regex_t expression;
    int flags = REG_EXTENDED | REG_NOSUB | (rule->any_case ? REG_ICASE : 0);
    assert_int_equal(regcomp(&expression, rule->pattern, flags), 0);
    bool found = regexec(&expression, line, 0, NULL, 0) == 0;
    regfree(&expression);
    return found;
}

static void each_rule_fits_its_example_alone(void **state)
{
    for (size_t i = 0; i < told_rule_count; i++) {
        const struct told_rule *rule = &told_rules[i];
        assert_true(rule->kind < TOLD_KINDS);
        if (!fits(rule, rule->example) || fits(rule, rule->counterexample))
            fail_msg("rule %zu: %s", i, rule->pattern);
        // The rules before it leave the example alone.
        if (tell(rule->example, TOLD_IN_LOAD).kind != rule->kind)
            fail_msg("rule %zu is not the one for '%s'", i, rule->example);
    }
}

static void statuses_are_read(void **state)
{
    assert_int_equal(tell("HTTP/1.1 503 Busy\r", TOLD_IN_OUTPUT).status, 503);
    assert_int_equal(tell("127.0.0.1 - - \"GET / HTTP/1.1\" 500 12", TOLD_IN_FILE).status, 500);
    assert_int_equal(tell("<title>404 Not Found</title>", TOLD_IN_OUTPUT).status, 404);
    assert_int_equal(tell("500", TOLD_IN_LOAD).status, 500);
    assert_int_equal(tell("200", TOLD_IN_LOAD).kind, TOLD_NOTHING);
}

static void numbers_and_data_mean_nothing_elsewhere(void **state)
{
    assert_int_equal(tell("500", TOLD_IN_OUTPUT).kind, TOLD_NOTHING);
    assert_int_equal(tell("an error in a text", TOLD_IN_FILE).kind, TOLD_NOTHING);
    assert_int_equal(tell("an error in a text", TOLD_IN_OUTPUT).kind, TOLD_ERROR);
    assert_int_equal(tell("3 errors", TOLD_IN_FILE).kind, TOLD_NOTHING);
    assert_int_equal(tell("", TOLD_IN_LOAD).kind, TOLD_NOTHING);
}

static void long_lines_are_cut(void **state)
{
    char line[10000];
    memset(line, 'x', sizeof line);
    memcpy(line + sizeof line - 7, " error ", 7);
    assert_int_equal(told_by(line, sizeof line, TOLD_IN_OUTPUT).kind, TOLD_NOTHING);
    memcpy(line, "error ", 6);
    assert_int_equal(told_by(line, sizeof line, TOLD_IN_OUTPUT).kind, TOLD_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_fits_its_example_alone),
        cmocka_unit_test(statuses_are_read),
        cmocka_unit_test(numbers_and_data_mean_nothing_elsewhere),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
