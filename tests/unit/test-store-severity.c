// SPDX-License-Identifier: GPL-3.0-or-later
// How severe findings are, and the rules of a spec with several.
#include "store/severity.h"
#include "store/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void severity_is(enum verdict verdict, const char *cause, const char *expected)
{
    const char *word = severity_word(finding_severity(verdict, cause));
    if (expected == NULL)
        assert_null(word);
    else
        assert_string_equal(word, expected);
}

static void test_severity(void **state)
{
    severity_is(VERDICT_CRASH, "crash SIGSEGV in data loss (x)", "high");
    severity_is(VERDICT_HANG, "hang in f (x)", "high");
    severity_is(VERDICT_SILENT, "silent data loss after read in f", "critical (data loss)");
    severity_is(VERDICT_UNSTABLE, "unstable data loss after read in f", "critical (data loss)");
    severity_is(VERDICT_SILENT, "silent files after read in f", "high");
    severity_is(VERDICT_SILENT, "silent leftovers after unlink in f", "medium");
    severity_is(VERDICT_UNSTABLE, "unstable files after fclose in f", "medium");
    severity_is(VERDICT_WRONG_OUTPUT, "wrong-output files after read in f", "medium");
    severity_is(VERDICT_SILENT, "silent stdout after data loss", "medium");
    severity_is(VERDICT_SILENT, NULL, "medium");
    severity_is(VERDICT_SILENT, "", "medium");
    severity_is(VERDICT_PASS, "pass", NULL);
    severity_is(VERDICTS, "", NULL);
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
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
