// SPDX-License-Identifier: GPL-3.0-or-later
// How severe findings are, the words of the store, and the rules of a spec with several.
#include "store/severity.h"
#include "store/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void severity_is(enum verdict verdict, enum harm harm, const char *expected)
{
    const char *name = severity_name(severity_of(verdict, harm));
    if (expected == NULL)
        assert_null(name);
    else
        assert_string_equal(name, expected);
}

static void test_severity(void **state)
{
    severity_is(VERDICT_CRASH, HARM_LOSS, "critical (data loss)");
    severity_is(VERDICT_CRASH, HARM_FILES, "high");
    severity_is(VERDICT_HANG, HARM_NONE, "high");
    severity_is(VERDICT_SILENT, HARM_LOSS, "critical (data loss)");
    severity_is(VERDICT_UNSTABLE, HARM_LOSS, "critical (data loss)");
    severity_is(VERDICT_SILENT, HARM_FILES, "high");
    severity_is(VERDICT_SILENT, HARM_NONE, "medium");
    severity_is(VERDICT_UNSTABLE, HARM_FILES, "medium");
    severity_is(VERDICT_WRONG_OUTPUT, HARM_FILES, "medium");
    severity_is(VERDICT_GRACEFUL, HARM_FILES, NULL);
    severity_is(VERDICT_PASS, HARM_NONE, NULL);
    severity_is(VERDICTS, HARM_NONE, NULL);
    assert_null(severity_name(SEVERITIES));
}

// Every value has a word of its own, and at most one of them none.
static void test_names(void **state)
{
    static const struct enum_names *const all[] = {&state_names,  &stop_names,     &selection_names,
                                                   &remark_names, &outcome_names,  &artifact_names,
                                                   &way_names,    &severity_names, &damage_names};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct enum_names *names = all[i];
        unsigned none = 0;
        for (unsigned value = 0; value < names->count; value++) {
            assert_int_equal(enum_value(names, enum_name(names, value)), value);
            none += enum_name(names, value) == NULL;
        }
        assert_true(none <= 1);
        assert_int_equal(enum_value(names, "no such word"), names->count);
        assert_null(enum_name(names, names->count));
    }
}

static void part_is(const char *spec, size_t index, const char *expected)
{
    size_t size;
    const char *part = spec_part(spec, index, &size);
    if (expected == NULL) {
        assert_null(part);
        return;
    }
    assert_non_null(part);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(part, expected, size);
}

static void test_parts(void **state)
{
    part_is("f=1", 0, "f=1");
    part_is("f=1", 1, NULL);
    part_is("f=1 then g=2 when once then h=3", 1, "g=2 when once");
    part_is("f=1 then g=2 when once then h=3", 2, "h=3");
    part_is("f=1 then g=2 when once then h=3", 3, NULL);
    part_is("f=1 when caller(\"a then b\"+0x1) then g=2", 0, "f=1 when caller(\"a then b\"+0x1)");
    part_is("f=1 when caller(\"a\\\" then b\"+0x1) then g=2", 1, "g=2");
    part_is("f=1 when caller(\"a then b", 1, NULL);
    part_is("", 0, "");
    part_is("", 1, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_severity),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
