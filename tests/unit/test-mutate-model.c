// SPDX-License-Identifier: GPL-3.0-or-later
// The fault model: every row is complete, no name occurs twice, and constraints that exclude each
// other are not combined.
#include "mutate/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void rows_are_complete(void **state)
{
    static const char *const classes[] = {"algorithm", "assignment", "checking", "interface"};
    for (int i = 0; i < MODEL_KINDS; i++) {
        const struct model_type *type = &model_types[i];
        assert_non_null(type->field);
        assert_non_null(type->name);
        assert_non_null(type->description);
        int known = 0;
        for (size_t j = 0; j < sizeof classes / sizeof *classes; j++)
            known += strcmp(type->odc, classes[j]) == 0;
        assert_int_equal(known, 1);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(type->field, model_types[j].field);
            assert_string_not_equal(type->name, model_types[j].name);
        }
        // Acronyms tell what kind of mistake it is, as names do.
        assert_int_equal(*type->field == 'M', strncmp(type->name, "missing-", 8) == 0);
        assert_int_equal(*type->field == 'W', strncmp(type->name, "wrong-", 6) == 0);
    }
}

static void constraints_make_sense(void **state)
{
    uint32_t used = 0;
    for (int i = 0; i < MODEL_KINDS; i++) {
        uint32_t set = model_types[i].constraints;
        used |= set;
        assert_int_equal(set & ~(((1u << MODEL_CONSTRAINTS) - 1) << 1), 0);
        // First and not first; an else that must not be there and one that must.
        assert_int_not_equal(set & (MODEL_C04 | MODEL_C07), MODEL_C04 | MODEL_C07);
    }
    assert_int_equal(model_types[MODEL_MIEB].constraints & MODEL_C08, 0);
    assert_int_equal(used, ((1u << MODEL_CONSTRAINTS) - 1) << 1);
    for (int i = 1; i <= MODEL_CONSTRAINTS; i++)
        assert_non_null(model_constraints[i]);
}

// Types that the field study counts together.
static void groups(void **state)
{
    unsigned assignments = 0, clauses = 0;
    for (int i = 0; i < MODEL_KINDS; i++) {
        const char *group = model_types[i].group;
        assignments += group != NULL && strcmp(group, "MVA") == 0;
        clauses += group != NULL && strcmp(group, "MLC") == 0;
    }
    assert_int_equal(assignments, 3);
    assert_int_equal(clauses, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(constraints_make_sense),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
