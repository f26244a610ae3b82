// SPDX-License-Identifier: GPL-3.0-or-later
// The tables that the options of `ordeal campaign` and `ordeal test` come from, and what options
// make of a definition. That no two options of a command share a name or letter is checked for all
// commands, in test-cli-options.c.
#include "trial-help.h"

#include "cli/campaign/flags.h"
#include "cli/campaign/run.h"
#include "cli/registry.h"
#include "definition/schema.h"

static bool is_list(const struct option *option)
{
    return option->kind == OPTION_LIST || option->kind == OPTION_FILE_LIST ||
           option->kind == OPTION_FLAG_LIST;
}

static bool has_option(const struct command *command, const char *name)
{
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++)
        if (strcmp(option.name, name) == 0)
            return true;
    return false;
}

static void shared_options_name_keys_that_exist(void **state)
{
    for (const struct campaign_option *shared = campaign_options; shared->option.name != NULL;
         shared++) {
        const char *name = shared->option.name;
        if (!has_option(&cmd_campaign, name) && !has_option(&cmd_test, name))
            fail_msg("--%s is no option of any command", name);
        if (is_list(&shared->option) && shared->key == NULL)
            assert_string_equal(name, "set");
        if (!is_list(&shared->option))
            assert_null(shared->key);
        if (shared->key == NULL)
            continue;
        const struct schema_field *field = schema_find(shared->key);
        if (field == NULL || strcmp(field->key, shared->key) != 0)
            fail_msg("--%s sets '%s', which is no key", name, shared->key);
        assert_true((shared->value != NULL) == (shared->option.value == NULL));
        if (shared->value != NULL) {
            struct definition definition;
            must(definition_new(&definition));
            must(definition_set(&definition, shared->key, shared->value));
            definition_deinit(&definition);
        }
    }
}

static void commands_share_options_that_exist(void **state)
{
    const struct command *const both[] = {&cmd_campaign, &cmd_test};
    for (size_t i = 0; i < 2; i++) {
        struct option option;
        for (size_t j = 0; command_option(both[i], j, &option); j++)
            assert_non_null(option.name);
    }
}

// That the injector takes it; of an option with an argument, that it has the parameter.
static void check_parameter(const struct injector *injector, const char *parameter,
                            const char *value)
{
    const struct injector_parameter *known;
    must(parameters_known(injector, parameter, strlen(parameter), &known));
    if (value == NULL)
        return;
    struct parameters parameters = {0};
    must(parameters_add(&parameters, injector, parameter, strlen(parameter), value, strlen(value),
                        0));
    parameters_deinit(&parameters);
}

static void injectors_name_parameters_that_they_have(void **state)
{
    size_t testing = 0;
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const struct injector_option *option = injectors[i]->options;
        for (; option != NULL && option->name != NULL; option++) {
            check_parameter(injectors[i], option->parameter, option->value);
            assert_true((option->value == NULL) != (option->argument == NULL));
            assert_non_null(option->help);
            assert_true(has_option(option->test ? &cmd_test : &cmd_campaign, option->name));
            assert_ptr_equal(campaign_option_named(option->test, option->name).injector,
                             injectors[i]);
        }
        const struct injector_setting *setting = injectors[i]->test_settings;
        testing += setting != NULL;
        for (; setting != NULL && setting->parameter != NULL; setting++)
            check_parameter(injectors[i], setting->parameter, setting->value);
    }
    assert_int_not_equal(testing, 0);
}

// The definition that such options make; they come in pairs of name and value.
static struct error *define(bool test, const char *const *options, struct definition *definition)
{
    static char *command[] = {"true", NULL};
    struct option_list flags = {0};
    for (; options[0] != NULL; options += 2) {
        struct option_entry *entry = ARRAY_ADD(&flags.entries);
        assert_non_null(entry);
        *entry = (struct option_entry){.option = options[0], .value = options[1]};
    }
    const struct campaign_arguments words = {.flags = &flags, .test = test, .command = command};
    bool seeded;
    struct error *error = campaign_define(&words, definition, &seeded);
    ARRAY_DEINIT(&flags.entries);
    return error;
}
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void options_without_argument_win(void **state)
{
    struct definition definition;
    must(define(false,
                OPTIONS("persistent", NULL, "private-network", NULL, "set", "mode=transient", "set",
                        "sandbox.network=host", "inject", "read=1"),
                &definition));
    assert_string_equal(definition.injector, "library");
    assert_string_equal(parameters_value(&definition.parameters, "mode", "none"), "persistent");
    assert_int_equal(definition.network, NETWORK_PRIVATE);
    definition_deinit(&definition);
    must(define(false,
                OPTIONS("inject", "read=1", "set", "mode=transient", "persistent", NULL,
                        "long-lived", NULL),
                &definition));
    assert_string_equal(parameters_value(&definition.parameters, "mode", "none"), "persistent");
    assert_true(definition.service.long_lived);
    definition_deinit(&definition);
}

static void a_campaign_has_one_injector(void **state)
{
    struct definition definition;
    must_say(define(false, OPTIONS("signal", "TERM", "inject", "read=1"), &definition),
             "--signal and --inject do not go together: a campaign has one injector");
    must_say(define(false, OPTIONS("persistent", NULL, "signal", "TERM"), &definition),
             "--persistent and --signal do not go together: a campaign has one injector");
}

static void a_test_has_defaults_that_options_change(void **state)
{
    struct definition definition;
    must(define(true, OPTIONS("paranoid", NULL, "references", "7"), &definition));
    assert_string_equal(definition.injector, "library");
    assert_string_equal(parameters_value(&definition.parameters, "faults", "none"), "auto");
    assert_string_equal(parameters_value(&definition.parameters, "errors", "none"), "all");
    assert_int_equal(definition.oracle.references, 7);
    assert_int_equal(definition.selection.order, ORDER_LISTED);
    definition_deinit(&definition);
}

// Hidden findings hide no other one, however many trials they have, whichever the verdict.
static void shown_findings_fail(void **state)
{
    for (int i = VERDICT_CRASH; i <= VERDICT_DELIBERATE; i++) {
        struct campaign_fail_on fail_on;
        struct campaign_end end = {.state = STORE_FINISHED};
        struct report_shown findings = {0};
        assert_null(campaign_parse_fail_on(verdict_facts[i].name, &fail_on));
        end.verdicts[VERDICT_PASS] = 5;
        assert_int_equal(campaign_exit_status(&end, &fail_on, &findings), 0);
        end.verdicts[i] = 2;
        findings.hidden[i] = 1;
        assert_int_equal(campaign_exit_status(&end, &fail_on, &findings), 0);
        findings.hidden[i] = 3; // carried over, with several trials for each candidate
        findings.shown[i] = 1;
        assert_int_equal(campaign_exit_status(&end, &fail_on, &findings), 1);
    }
    struct campaign_fail_on fail_on;
    struct campaign_end end = {.state = STORE_FINISHED};
    const struct report_shown none = {0};
    assert_null(campaign_parse_fail_on("graceful", &fail_on));
    end.verdicts[VERDICT_GRACEFUL] = 1; // never a finding
    assert_int_equal(campaign_exit_status(&end, &fail_on, &none), 1);
    struct report_shown findings = {.shown[VERDICT_CRASH] = 1, .severities[SEVERITY_HIGH] = 1};
    assert_null(campaign_parse_fail_on("critical,hang", &fail_on));
    assert_int_equal(campaign_exit_status(&end, &fail_on, &findings), 0);
    assert_null(campaign_parse_fail_on("hang,high", &fail_on));
    assert_int_equal(campaign_exit_status(&end, &fail_on, &findings), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_options_name_keys_that_exist),
        cmocka_unit_test(commands_share_options_that_exist),
        cmocka_unit_test(injectors_name_parameters_that_they_have),
        cmocka_unit_test(options_without_argument_win),
        cmocka_unit_test(a_campaign_has_one_injector),
        cmocka_unit_test(a_test_has_defaults_that_options_change),
        cmocka_unit_test(shown_findings_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
