// SPDX-License-Identifier: GPL-3.0-or-later
// An injector of one's own, as docs/HOWTO-add-an-injector.md says: a file and a line of the
// registry. Everything else (definitions, shots, verdicts) must take it as it comes.
#include "trial-help.h"

#include "campaign/selection.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "injector/parameters.h"
#include "oracle/judge.h"
#include "oracle/reference.h"

// The injector `variable`: the workload starts with an environment variable gone bad.

static const struct injector_parameter parameters[] = {
    {"names", "NAME...", "variables to spoil", true, true},
    {"how", "empty|huge", "what becomes of them (empty)", false, false},
    {0},
};

struct variables {
    struct injector_setup setup;
    char *spoilt;       // "NAME=VALUE" of this shot
    char **environment; // the list; the strings but `spoilt` are the shot's
    char *spec;
};

static struct error *open_variables(const struct injector_setup *setup, void **ret_self)
{
    const struct parameter *names = parameters_find(setup->parameters, "names");
    for (size_t i = 0; i < names->values.count; i++)
        if (strchr(names->values.items[i], '=') != NULL)
            return parameters_error(names, "'%s' is no name", names->values.items[i]);
    struct variables *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    *ret_self = self;
    return NULL;
}

static void forget_shot(struct variables *self)
{
    free(TAKE(self->spoilt));
    free(TAKE(self->environment));
    free(TAKE(self->spec));
}

static void close_variables(void *self)
{
    forget_shot(self);
    free(self);
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct variables *self = data;
    size_t count = 0, used = 0, size;
    forget_shot(self);
    if (shot->spec == NULL) // a reference run: nothing to spoil
        return NULL;
    size = strlen(shot->spec);
    while (shot->environment[count] != NULL)
        count++;
    self->spec = strdup(shot->spec);
    self->environment = calloc(count + 2, sizeof *self->environment);
    if (asprintf(&self->spoilt, "%s=", shot->spec) < 0)
        self->spoilt = NULL;
    if (self->spec == NULL || self->environment == NULL || self->spoilt == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        if (strncmp(shot->environment[i], shot->spec, size) != 0 ||
            shot->environment[i][size] != '=')
            self->environment[used++] = shot->environment[i];
    self->environment[used] = self->spoilt;
    shot->use_environment = self->environment;
    return NULL;
}

static struct error *observe(void *data, const char *root, struct observation *ret_observation)
{
    struct variables *self = data;
    struct observation observation = {0};
    if (self->spec != NULL) {
        struct injection *injection = ARRAY_ADD(&observation.injections);
        if (injection == NULL)
            return error_no_memory();
        injection->fault = strdup(self->spec);
        observation.activations = 1;
    }
    *ret_observation = observation;
    return NULL;
}

static struct error *candidates(void *data, candidate_add *add, void *add_data)
{
    struct variables *self = data;
    const struct parameter *names = parameters_find(self->setup.parameters, "names");
    for (size_t i = 0; i < names->values.count; i++) {
        struct candidate candidate = {
            .spec = strdup(names->values.items[i]), .type = strdup("empty"), .weight = 1};
        struct error *error = candidate.spec != NULL && candidate.type != NULL
                                  ? add(add_data, &candidate)
                                  : error_no_memory();
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

static const struct injector injector_variable = {
    .name = "variable",
    .summary = "spoils environment variables",
    .parameters = parameters,
    .open = open_variables,
    .close = close_variables,
    .prepare = prepare,
    .observe = observe,
    .candidates = candidates,
};

// The registry, which stands in for the one of src/injectors/registry.c.
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
    must_say(definition_set(&definition, "injector.how", "small"), "expected empty or huge");
    must_say(definition_set(&definition, "injector.hwo", "huge"), "did you mean 'how'?");
    must(definition_set(&definition, "injector.names", "A=B"));
    must_say(definition_check(&definition), "injector 'variable': names: 'A=B' is no name");
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
    assert_int_equal(gathering.items.count, 2);
    assert_int_equal(verdict_of(shooting, reference, gathering.items.items[0].spec),
                     VERDICT_GRACEFUL);
    assert_int_equal(verdict_of(shooting, reference, gathering.items.items[1].spec), VERDICT_PASS);
    for (size_t i = 0; i < gathering.items.count; i++)
        candidate_deinit(&gathering.items.items[i]);
    ARRAY_DEINIT(&gathering.items);
    reference_free(reference);
    shooting_free(shooting);
    definition_deinit(&definition);
}

// The recipe shows this file's descriptor, so that it cannot go stale.
static void the_recipe_names_every_step(void **state)
{
    char path[4096];
    struct buffer text = {0};
    snprintf(path, sizeof path, "%s/docs/HOWTO-add-an-injector.md", getenv("ORDEAL_SOURCE_ROOT"));
    must(buffer_read_file(path, 1 << 20, &text));
    static const char *const steps[] = {"open",
                                        "close",
                                        "prepare",
                                        "begin",
                                        "started",
                                        "tick",
                                        "observe",
                                        "candidates",
                                        "next",
                                        "reproduce",
                                        "debug",
                                        "src/injectors/registry.c",
                                        "docs/ordeal-campaign.5",
                                        "tests/unit/test-campaign-injector.c"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strstr(text.data, steps[i]) == NULL)
            fail_msg("docs/HOWTO-add-an-injector.md says nothing about %s", steps[i]);
    buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_found_and_its_parameters_are_checked, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(its_trials_get_verdicts, enter_scratch, leave_scratch),
        cmocka_unit_test(the_recipe_names_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
