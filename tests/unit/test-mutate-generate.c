// SPDX-License-Identifier: GPL-3.0-or-later
// Generated programs: every type and every constraint has some, no combination comes twice, and the
// text is what the parameters and the seed say.
#include "base/error.h"
#include "mutate/generate/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t number_of(const struct generate_parameters *p)
{
    const unsigned words[] = {p->violated, p->context, p->nesting, p->operand, p->complexity};
    uint64_t number = p->kind;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        number = number * 16 + words[i];
    return number;
}

static void combinations(void **state)
{
    struct generate_parameters parameters = {0};
    uint32_t violated[MODEL_KINDS] = {0};
    bool begun = false, valid[MODEL_KINDS] = {false};
    uint64_t last = 0;
    size_t count = 0;
    while (generate_next(&parameters, &begun)) {
        assert_true(count == 0 || number_of(&parameters) > last);
        last = number_of(&parameters);
        valid[parameters.kind] |= parameters.violated == 0;
        violated[parameters.kind] |= parameters.violated != 0 ? 1u << parameters.violated : 0;
        count++;
    }
    assert_true(count >= 4855);
    for (int i = 0; i < MODEL_KINDS; i++) {
        assert_true(valid[i]);
        assert_int_equal(violated[i], model_types[i].constraints);
    }
}

static void programs(void **state)
{
    struct generate_parameters parameters = {0};
    bool begun = false;
    for (size_t i = 0; generate_next(&parameters, &begun); i++) {
        if (i % 50 != 0)
            continue;
        struct generate_program one = {0}, two = {0}, other = {0};
        assert_null(generate_program(&parameters, 1, &one));
        assert_null(generate_program(&parameters, 1, &two));
        assert_null(generate_program(&parameters, 2, &other));
        assert_string_equal(one.text.data, two.text.data);
        assert_string_not_equal(one.text.data, other.text.data);
        assert_int_equal(one.expected == 0, parameters.violated != 0);
        // The marks stand around the target's lines.
        unsigned line = 1;
        for (const char *at = one.text.data; at != NULL; line++) {
            const char *text = at + strspn(at, " ");
            assert_int_equal(strncmp(text, "// target begins", 16) == 0, line + 1 == one.first);
            assert_int_equal(strncmp(text, "// target ends", 14) == 0, line == one.last + 1);
            at = strchr(at, '\n');
            at = at != NULL && at[1] != '\0' ? at + 1 : NULL;
        }
        generate_program_deinit(&one);
        generate_program_deinit(&two);
        generate_program_deinit(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combinations),
        cmocka_unit_test(programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
