// SPDX-License-Identifier: GPL-3.0-or-later
// Files of scenarios and plug-ins: where they are looked for, and those that cannot be used.
#include "scenario-help.h"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// Plug-ins: named under `plugins`, beside the file, in ORDEAL_PLUGIN_PATH, given later, or nowhere.
static void test_plugins(void **state)
{
    char directory[] = "/tmp/ordeal-test-XXXXXX", path[5][64];
    assert_non_null(mkdtemp(directory));
    static const char *const names[] = {"s.yaml", "listed.so", "beside.so", "libgiven-late.so",
                                        "x.xml"};
    for (size_t i = 0; i < 5; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", directory, names[i]);
        write_plugin(path[i]);
    }
    write_file(path[0], "plugins: [listed.so]\n"
                        "triggers: {shared: 'plugin(listed, a: 1)'}\n"
                        "rules:\n"
                        "  - 'f=0 when plugin(listed, a: 1, b: \"x y\") and plugin(beside)'\n"
                        "  - f=0 when plugin(given_late) and @shared\n"
                        "  - g=0 when @shared\n");
    struct scenario *scenario = new_scenario();
    must(scenario_add_file(scenario, path[0]));
    struct buffer bytes = {0};
    char message[512];
    snprintf(message, sizeof message,
             "%s:5:21: no file for plug-in 'given_late': give one with --plugin FILE or "
             "'plugins:', or put given_late.so beside the scenario file or into a directory of "
             "ORDEAL_PLUGIN_PATH\n"
             "      - f=0 when plugin(given_late) and @shared\n"
             "                        ^",
             path[0]);
    expect_error(scenario_compile(scenario, 1, &bytes), message);
    must(scenario_add_plugin(scenario, path[3]));
    assert_int_equal(scenario_plugin_count(scenario), 3);
    assert_string_equal(scenario_plugin_file(scenario, 0), path[1]);
    assert_string_equal(scenario_plugin_file(scenario, 1), path[2]);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    const struct wire_plugin *plugins = plan_at(&plan, plan.header->plugins);
    const struct wire_parameter *parameters = plan_at(&plan, plan.header->parameters);
    assert_int_equal(plan.header->plugins.count, 4); // @shared is one instance for two rules
    assert_string_equal(plan.strings + plugins[1].name, "listed");
    assert_int_equal(plugins[1].parameters.count, 2);
    assert_string_equal(plan.strings + parameters[plugins[1].parameters.offset + 1].value, "x y");
    assert_string_equal(plan.strings + plugins[3].file, path[3]);
    scenario_free(scenario);

    setenv("ORDEAL_PLUGIN_PATH", "/nonexistent::/tmp", 1);
    scenario = new_scenario();
    must(scenario_add_spec(scenario, "f=0 when plugin(beside)"));
    struct error *error = scenario_compile(scenario, 1, &bytes);
    assert_non_null(error);
    error_free(error);
    scenario_free(scenario);
    setenv("ORDEAL_PLUGIN_PATH", directory, 1);
    scenario = new_scenario();
    must(scenario_add_spec(scenario, "f=0 when plugin(beside)"));
    struct plan found = compile_plan(scenario);
    plan_deinit(&found);
    assert_int_equal(scenario_plugin_count(scenario), 1);
    unsetenv("ORDEAL_PLUGIN_PATH");
    scenario_free(scenario);
    for (size_t i = 0; i < 5; i++)
        unlink(path[i]);
    rmdir(directory);
}

static void test_instances(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "f=0 when plugin(p, instance: one, a: 1)"));
    must(scenario_add_spec(scenario, "g=0 when plugin(p, a: 1, instance: one)"));
    expect_error(scenario_add_spec(scenario, "h=0 when plugin(p, instance: one, a: 2)"),
                 "--inject:1:10: instance 'one' of plug-in 'p' was given other parameters before\n"
                 "    h=0 when plugin(p, instance: one, a: 2)\n"
                 "             ^");
    scenario_free(scenario);
}

static void test_files(void **state)
{
    struct scenario *scenario = new_scenario();
    expect_error(scenario_add_file(scenario, "/nonexistent/x.yaml"),
                 "cannot read /nonexistent/x.yaml: No such file or directory");
    expect_error(scenario_add_plugin(scenario, "/nonexistent/x.so"),
                 "cannot load plug-in /nonexistent/x.so: No such file or directory");
    expect_error(scenario_add_plugin(scenario, "/tmp"), "cannot load plug-in /tmp: Is a directory");
    expect_error(scenario_add_plugin(scenario, "/etc/passwd"),
                 "cannot load plug-in /etc/passwd: not a shared object for x86-64");
    expect_error(scenario_add_file(scenario, "/tmp"), "cannot read /tmp: Is a directory");
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugins),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
