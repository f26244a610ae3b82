// SPDX-License-Identifier: GPL-3.0-or-later
// Tests with the example injector of docs/HOWTO-add-an-injector.md: definitions, shots and verdicts
// must work with it unchanged. tests/e2e/extra-injector.test builds ordeal with it.
#include "trial-help.h"

#include "../../docs/examples/injectors/variable/variable.c"
#include "campaign/selection.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "injector/parameters.h"
#include "oracle/judge.h"
#include "oracle/reference.h"

// The registry for this test, in place of src/injectors/registry.c.
const struct injector *const injectors[] = {&injector_variable, NULL};

static struct definition define(const char *command)
{
    struct definition definition;
    must(definition_new(&definition));
    must(definition_set(&definition, "command", command));
    must(definition_set(&definition, "environment", "GREETING=hello"));
    must(definition_set(&definition, "environment", "UNUSED=x"));
    must(definition_set(&definition, "sandbox.kind", "none"));
    must(definition_set(&definition, "injector.variable.names", "GREETING"));
    must(definition_set(&definition, "injector.variable.names", "UNUSED"));
    return definition;
}

static void it_is_found_and_its_parameters_are_checked(void **state)
{
    struct definition definition = define("true");
    must(definition_check(&definition));
    must_say(definition_set(&definition, "injector.how", "small"),
             "expected missing, empty or huge");
    must_say(definition_set(&definition, "injector.hwo", "huge"), "did you mean 'how'?");
    must(definition_set(&definition, "injector.names", "A=B"));
    must_say(definition_check(&definition),
             "injector 'variable': names: 'A=B' is no name of a variable");
    definition_deinit(&definition);
    must(definition_new(&definition));
    must(definition_set(&definition, "command", "true"));
    must(definition_set(&definition, "injector", "variable"));
    must_say(definition_check(&definition), "injector 'variable' needs 'names'");
    must_say(definition_set(&definition, "injector", "library"), "there are: variable");
    definition_deinit(&definition);
}

struct gathering {
    ARRAY(struct candidate) items;
};

static struct error *gather(void *data, struct candidate *candidate)
{
    struct gathering *gathering = data;
    struct candidate *item = ARRAY_ADD(&gathering->items);
    assert_non_null(item);
    *item = *candidate;
    *candidate = (struct candidate){0};
    return NULL;
}

static enum verdict verdict_of(struct shooting *shooting, const struct reference *reference,
                               const char *spec)
{
    struct outcome_run run = {0};
    struct judgement judgement = {0};
    must(shooting_run(shooting, spec, 1, 0, &run));
    must(judge(reference, &run, &judgement));
    enum verdict verdict = judgement.verdict;
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
    return verdict;
}

static void its_trials_get_verdicts(void **state)
{
    struct definition definition = define("test -n \"$GREETING\" && echo \"$GREETING\"");
    struct shooting *shooting = NULL;
    struct reference *reference = NULL;
    struct gathering gathering = {0};
    must(shooting_new(&definition, injector_find("variable"), &shooting));
    must(reference_new(&definition.oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = {0};
        must(shooting_run(shooting, NULL, 1, 0, &run));
        must(reference_add(reference, &run));
        outcome_run_deinit(&run);
    }
    must(reference_settle(reference));
    must(injector_variable.candidates(shooting_injector(shooting), gather, &gathering));
    static const struct {
        const char *spec;
        enum verdict verdict;
    } expected[] = {
        {"GREETING missing", VERDICT_GRACEFUL}, {"GREETING empty", VERDICT_GRACEFUL},
        {"GREETING huge", VERDICT_SILENT},      {"UNUSED missing", VERDICT_PASS},
        {"UNUSED empty", VERDICT_PASS},         {"UNUSED huge", VERDICT_PASS},
    };
    assert_int_equal(gathering.items.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < gathering.items.count; i++) {
        assert_string_equal(gathering.items.items[i].spec, expected[i].spec);
        assert_int_equal(verdict_of(shooting, reference, expected[i].spec), expected[i].verdict);
    }
    struct outcome_run run = {0};
    must_say(shooting_run(shooting, "GREETING gone", 1, 0, &run),
             "'GREETING gone' is not of the form 'HOME missing'");
    outcome_run_deinit(&run);
    for (size_t i = 0; i < gathering.items.count; i++)
        candidate_deinit(&gathering.items.items[i]);
    ARRAY_DEINIT(&gathering.items);
    reference_free(reference);
    shooting_free(shooting);
    definition_deinit(&definition);
}

// The next name in a header that the recipe must explain: a function pointer, an ability or a flag.
// NULL at the end.
static const char *next_member(const char **text, char name[64])
{
    for (;;) {
        const char *line = *text, *end = strchr(line, '\n'), *at = line + strspn(line, " ");
        const char *star = strstr(line, "(*");
        if (end == NULL)
            return NULL;
        *text = end + 1;
        if (star != NULL && star < end && at - line == 4 && strncmp(at, "//", 2) != 0)
            at = star + 2;
        else if (strncmp(line, "    const struct injector_", 26) == 0 &&
                 memchr(line, '*', end - line))
            at = (const char *)memchr(line, '*', end - line) + 1;
        else if (strncmp(line, "    bool servers;", 17) == 0)
            at = line + 9;
        else
            continue;
        snprintf(name, 64, "`%.*s`", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_"), at);
        return name;
    }
}

// The recipe explains every function and every ability of the contract.
static void the_recipe_explains_the_contract(void **state)
{
    char path[4096], name[64];
    struct buffer recipe = {0}, header = {0};
    size_t members = 0;
    snprintf(path, sizeof path, "%s/docs/HOWTO-add-an-injector.md", getenv("ORDEAL_SOURCE_ROOT"));
    must(buffer_read_file(path, 1 << 20, &recipe));
    snprintf(path, sizeof path, "%s/src/injector/injector.h", getenv("ORDEAL_SOURCE_ROOT"));
    must(buffer_read_file(path, 1 << 20, &header));
    const char *at = strstr(header.data, "// ---- Optional abilities");
    assert_non_null(at);
    for (; next_member(&at, name) != NULL; members++)
        if (strstr(recipe.data, name) == NULL)
            fail_msg("docs/HOWTO-add-an-injector.md does not explain %s", name);
    assert_true(members > 40);
    buffer_deinit(&header);
    buffer_deinit(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_found_and_its_parameters_are_checked, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(its_trials_get_verdicts, enter_scratch, leave_scratch),
        cmocka_unit_test(the_recipe_explains_the_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
