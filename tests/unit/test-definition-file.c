// SPDX-License-Identifier: GPL-3.0-or-later
// Tests campaign files and flags: what is read, written and refused, with the texts of errors.
#include "trial-help.h"

#include "definition/definition.h"
#include "definition/schema.h"
#include "injector/injector.h"

static struct definition parsed(const char *text)
{
    struct definition definition;
    must(definition_new(&definition));
    must(definition_parse(&definition, "x.yaml", text, strlen(text)));
    return definition;
}

// Compares the whole error.
static void refuses(const char *text, const char *message)
{
    struct definition definition;
    must(definition_new(&definition));
    struct error *error = definition_parse(&definition, "x.yaml", text, strlen(text));
    assert_non_null(error);
    assert_string_equal(error_message(error), message);
    error_free(error);
    definition_deinit(&definition);
}

static void refuses_with(const char *text, const char *part)
{
    struct definition definition;
    must(definition_new(&definition));
    must_say(definition_parse(&definition, "x.yaml", text, strlen(text)), part);
    definition_deinit(&definition);
}

static const char complete[] =
    "campaign: nightly\n"
    "command: [cp, 'a b', out]\n"
    "directory: /var\n"
    "environment: {LC_ALL: C, EMPTY: ''}\n"
    "input: /dev/null\n"
    "setup: make -s\n"
    "pretest: [test, -e, in]\n"
    "posttest: cmp in out\n"
    "teardown: rm -f out\n"
    "injector:\n"
    "  library:\n"
    "    faults: ['read=-1/EIO', 'malloc=NULL']\n"
    "    at: site\n"
    "    mode: persistent\n"
    "selection: {sample: 100, per: function, repeat: 3}\n"
    "oracle:\n"
    "  references: 16\n"
    "  status: 3\n"
    "  compare: [stdout, stderr]\n"
    "  ignore: ['/var/log/*', '*.tmp']\n"
    "  filters:\n"
    "    - {match: '[0-9]+ms', with: TIME}\n"
    "    - s,/tmp/[a-z]*,TMP,\n"
    "  command: ./oracle\n"
    "  timeout: {factor: 2.5, floor: 500ms}\n"
    "sandbox:\n"
    "  kind: overlay\n"
    "  network: private\n"
    "  limits: {cpu: 90s, memory: 1.5G, file: 100M, processes: 256, core: true}\n"
    "jobs: 3\n"
    "seed: 42\n"
    "time_budget: 2h\n"
    "max_trials: 1000\n"
    "until_interval: 0.02\n"
    "confirm: false\n"
    "engine: local\n";

static void check_commands(const struct definition *definition)
{
    assert_string_equal(definition->name, "nightly");
    assert_int_equal(definition->command.count, 3);
    assert_string_equal(definition->command.items[1], "a b");
    assert_null(definition->command.items[3]);
    assert_string_equal(definition->directory, "/var");
    assert_string_equal(definition->input, "/dev/null");
    assert_int_equal(definition->setup.count, 3);
    assert_string_equal(definition->setup.items[0], "/bin/sh");
    assert_string_equal(definition->setup.items[2], "make -s");
    assert_int_equal(definition->pretest.count, 3);
    assert_string_equal(definition->posttest.items[2], "cmp in out");
    assert_string_equal(definition->teardown.items[2], "rm -f out");
    assert_string_equal(definition->injector, "library");
    assert_int_equal(definition->parameters.count, 3);
    assert_string_equal(definition->parameters.items[0].name, "faults");
    assert_string_equal(definition->parameters.items[0].values.items[1], "malloc=NULL");
    assert_int_equal(definition->parameters.items[0].line, 12);
}

static void check_oracle(const struct oracle *oracle)
{
    assert_int_equal(oracle->references, 16);
    assert_int_equal(oracle->status, 3);
    assert_true(oracle->compare_stdout && oracle->compare_stderr && !oracle->compare_files);
    assert_int_equal(oracle->ignored.count, 2);
    assert_string_equal(oracle->ignored.items[1], "*.tmp");
    assert_int_equal(oracle->filters.count, 2);
    assert_string_equal(oracle->filters.items[0].pattern, "[0-9]+ms");
    assert_string_equal(oracle->filters.items[1].pattern, "/tmp/[a-z]*");
    assert_string_equal(oracle->filters.items[1].replacement, "TMP");
    assert_string_equal(oracle->command.items[2], "./oracle");
    assert_true(oracle->timeout_factor == 2.5);
    assert_int_equal(oracle->timeout_floor_ns, 500000000);
}

static void check_rest(const struct definition *definition)
{
    assert_int_equal(definition->selection.kind, SELECT_SAMPLE);
    assert_int_equal(definition->selection.sample, 100);
    assert_string_equal(definition->selection.per, "function");
    assert_int_equal(definition->selection.repeat, 3);
    assert_int_equal(definition->sandbox, SANDBOX_OVERLAY);
    assert_true(definition->network);
    assert_int_equal(definition->limits.cpu_s, 90);
    assert_int_equal(definition->limits.memory_bytes, 1536ull << 20);
    assert_int_equal(definition->limits.file_bytes, 100 << 20);
    assert_int_equal(definition->limits.processes, 256);
    assert_true(definition->limits.core);
    assert_int_equal(definition->jobs, 3);
    assert_int_equal(definition->seed, 42);
    assert_int_equal(definition->time_budget_ns, 7200ull * 1000000000u);
    assert_int_equal(definition->max_trials, 1000);
    assert_true(definition->until_interval == 0.02);
    assert_false(definition->confirm);
    assert_string_equal(definition->engine, "local");
}

static void every_key_is_read(void **state)
{
    struct definition definition = parsed(complete);
    check_commands(&definition);
    check_oracle(&definition.oracle);
    check_rest(&definition);
    definition_deinit(&definition);
}

static void what_is_written_reads_back_the_same(void **state)
{
    struct definition definition = parsed(complete), again;
    struct buffer first = {0}, second = {0};
    // All bytes; and the largest character, which stands for a byte elsewhere.
    must(definition_set(&definition, "environment", "BYTES=\xff\xfe \x01\x7f\n\t\"\\'#: \xc2\x85"));
    must(definition_set(&definition, "environment", "TOP=\xf4\x8f\xbf\xbf\xf4\x8f\xbe\x80"));
    must(definition_set(&definition, "environment", "TEXT=h\xc3\xbc\xe2\x80\xa8 \xef\xbb\xbf"));
    must(definition_set(&definition, "setup", "true"));
    must(definition_set(&definition, "campaign", "yes"));
    must(definition_write(&definition, &first));
    must(definition_new(&again));
    must(definition_set(&again, "environment", "GONE=1")); // the written one is complete
    must(definition_parse(&again, "stored", first.data, first.size));
    must(definition_write(&again, &second));
    assert_string_equal(first.data, second.data);
    check_oracle(&again.oracle);
    check_rest(&again);
    assert_int_equal(definition.environment.count, again.environment.count);
    for (size_t i = 0; i < definition.environment.count; i++)
        assert_string_equal(definition.environment.items[i], again.environment.items[i]);
    buffer_deinit(&first);
    buffer_deinit(&second);
    definition_deinit(&definition);
    definition_deinit(&again);
}

static void defaults_are_those_of_the_manual(void **state)
{
    struct definition definition = parsed("command: 'true'\n");
    assert_int_equal(definition.oracle.references, 5);
    assert_true(definition.oracle.compare_stdout && definition.oracle.compare_files);
    assert_false(definition.oracle.compare_stderr);
    assert_true(definition.oracle.timeout_factor == 10);
    assert_int_equal(definition.oracle.timeout_floor_ns, 2000000000);
    assert_int_equal(definition.selection.kind, SELECT_ALL);
    assert_int_equal(definition.selection.repeat, 1);
    assert_int_equal(definition.sandbox, SANDBOX_AUTO);
    assert_true(definition.confirm);
    assert_string_equal(definition.directory, *state);
    definition_deinit(&definition);
}

static void short_forms(void **state)
{
    struct definition definition = parsed("selection: sweep\n"
                                          "sandbox: none\n"
                                          "injector: signal\n"
                                          "oracle: {timeout: 3s, compare: stderr, ignore: x}\n");
    assert_int_equal(definition.selection.kind, SELECT_SWEEP);
    assert_int_equal(definition.sandbox, SANDBOX_NONE);
    assert_string_equal(definition.injector, "signal");
    assert_int_equal(definition.oracle.timeout_floor_ns, 3000000000);
    assert_true(definition.oracle.timeout_factor == 0);
    assert_true(definition.oracle.compare_stderr && !definition.oracle.compare_stdout);
    assert_int_equal(definition.oracle.ignored.count, 1);
    definition_deinit(&definition);
    definition = parsed("selection: {most: 5, sample: 7, kind: sweep}\n"); // any order
    assert_int_equal(definition.selection.kind, SELECT_SWEEP);
    definition_deinit(&definition);
}

static void errors_name_place_and_remedy(void **state)
{
    refuses(
        "comand: x\n",
        "x.yaml:1:1: unknown key 'comand' of a campaign (did you mean 'command'?); there are: "
        "campaign, command, directory, environment, secret, input, inputs, server, setup, pretest, "
        "posttest, "
        "teardown, "
        "injector, selection, oracle, sandbox, engine, cluster, fork, jobs, seed, time_budget, "
        "max_trials, "
        "stop_after, until_interval, confirm, scope, mine\n"
        "    comand: x\n"
        "    ^");
    refuses("command: x\noracle:\n  timeout:\n    flor: 2s\n",
            "x.yaml:4:5: unknown key 'flor' in 'oracle.timeout' (did you mean 'floor'?); there "
            "are: factor, floor\n"
            "        flor: 2s\n"
            "        ^");
    refuses("sandbox: overlai\n",
            "x.yaml:1:10: expected auto, overlay, copy or none, not 'overlai' (did you mean "
            "'overlay'?)\n"
            "    sandbox: overlai\n"
            "             ^");
    refuses("jobs: many\n", "x.yaml:1:7: expected a whole number from 0 to 4096, not 'many'\n"
                            "    jobs: many\n"
                            "          ^");
    refuses(
        "injector: {librery: {}}\n",
        "x.yaml:1:12: there is no injector 'librery' (did you mean 'library'?); there are: "
        "library, signal, ir, source, binary, syscall, register, memory, guest, mce, interface\n"
        "    injector: {librery: {}}\n"
        "               ^");
    refuses("injector:\n  library: {fault: x}\n",
            "x.yaml:2:13: injector 'library' has no parameter 'fault' (did you mean 'faults'?); it "
            "has: faults, at, mode, plugins, functions, modules, exclude, errors, depth, coverage\n"
            "      library: {fault: x}\n"
            "                ^");
}

static void wrong_values_are_refused(void **state)
{
    refuses_with("injector: {library: {at: everywhere}}\n", "expected occurrence, site or stack");
    refuses_with("injector: {library: {at: [site, stack]}}\n", "'at' takes one value only");
    refuses_with("injector: {library: {faults: []}}\n", "this list is empty");
    refuses_with("injector: {library: {}, signal: {}}\n", "expected one injector");
    refuses_with("injector: [library]\n", "expected one injector");
    refuses_with("seed: -1\n", "expected a whole number");
    refuses_with("seed: 18446744073709551616\n", "expected a whole number");
    refuses_with("seed: 1e3\n", "expected a whole number");
    refuses_with("time_budget: soon\n", "expected a time such as");
    refuses_with("time_budget: 5 parsec\n", "expected a time such as");
    refuses_with("oracle: {timeout: {floor: 0}}\n", "above 0");
    refuses_with("oracle: {timeout: {factor: nan}}\n", "expected a number");
    refuses_with("sandbox: {limits: {memory: 1Q}}\n", "expected a size such as");
    refuses_with("oracle: {filters: [{match: '('}]}\n", "is no regular expression");
    refuses_with("oracle: {filters: [{with: x}]}\n", "needs 'match: REGEX'");
    refuses_with("oracle: {filters: [s/a/b]}\n", "expected s/REGEX/TEXT/");
    refuses_with("oracle: {filters: [{match: x, wth: y}]}\n", "there is no other key");
    refuses_with("oracle: 5\n", "expected keys and values of 'oracle'");
    refuses_with("oracle: {compare: [stdin]}\n", "expected stdout, stderr or files");
    refuses_with("command: {a: b}\n", "expected a command");
    refuses_with("command: [[a]]\n", "expected a text");
    refuses_with("command: \"a\\0b\"\n", "NUL");
    refuses_with("environment: text\n", "expected {NAME: VALUE, ...}");
    refuses_with("environment: {A=B: c}\n", "has no '=' in it");
    refuses_with("selection: {per: colour}\n", "expected type, function");
    refuses_with("until_interval: 0.9\n", "expected a number from 0 to 0.5");
    refuses_with("engine: cloud\n", "expected local or slurm");
    refuses_with("confirm: maybe\n", "expected false or true");
}

static void hostile_files_are_refused(void **state)
{
    refuses_with("", "is made of keys and values");
    refuses_with("- a\n", "is made of keys and values");
    refuses_with("command: &a x\nsetup: *a\n", "anchors are not supported");
    refuses_with("command: x\ncommand: y\n", "a second time");
    refuses_with("command: x\n---\ncommand: y\n", "one document only");
    refuses_with("command: \xff\n", "UTF-8");
    refuses_with("? [a]\n: b\n", "a key must be a plain text");
    struct buffer deep = {0};
    must(buffer_printf(&deep, "command: "));
    for (int i = 0; i < 5000; i++)
        must(buffer_append(&deep, "[", 1));
    refuses_with(deep.data, "nested too deeply");
    buffer_deinit(&deep);
    // No crash, and no suggestion without a reason.
    struct buffer wide = {0};
    must(buffer_printf(&wide, "oracle: {"));
    for (int i = 0; i < 300; i++)
        must(buffer_append(&wide, "k", 1));
    must(buffer_printf(&wide, ": 1}\n"));
    refuses_with(wide.data, "unknown key 'kkkkk");
    refuses_with("oracle: {oracle.references: 1}\n", "unknown key 'oracle.references'");
    buffer_deinit(&wide);
}

static void flags_go_over_the_file(void **state)
{
    struct definition definition = parsed(complete);
    must(definition_set(&definition, "oracle.references", "7"));
    must(definition_set(&definition, "timeout.factor", "3"));
    must(definition_set(&definition, "floor", "1m"));
    must(definition_set(&definition, "oracle.compare", "files"));
    must(definition_set(&definition, "ignore", "*.log"));
    must(definition_set(&definition, "oracle.filters", "s/x\\/y/z/"));
    must(definition_set(&definition, "environment", "LC_ALL=POSIX"));
    must(definition_set(&definition, "selection.kind", "sweep"));
    must(definition_set(&definition, "input", "data"));
    must(definition_set(&definition, "posttest", ""));
    assert_int_equal(definition.oracle.references, 7);
    assert_true(definition.oracle.timeout_factor == 3);
    assert_int_equal(definition.oracle.timeout_floor_ns, 60000000000);
    assert_true(definition.oracle.compare_files && !definition.oracle.compare_stdout);
    assert_int_equal(definition.oracle.ignored.count, 3);
    assert_string_equal(definition.oracle.filters.items[2].pattern, "x/y");
    assert_int_equal(definition.selection.kind, SELECT_SWEEP);
    assert_int_equal(definition.posttest.count, 0);
    char path[200];
    snprintf(path, sizeof path, "%s/data", (char *)*state);
    assert_string_equal(definition.input, path);
    int set = 0;
    for (size_t i = 0; i < definition.environment.count; i++) {
        assert_string_not_equal(definition.environment.items[i], "LC_ALL=C");
        set += strcmp(definition.environment.items[i], "LC_ALL=POSIX") == 0;
    }
    assert_int_equal(set, 1);
    definition_deinit(&definition);
}

static void parameters_belong_to_an_injector(void **state)
{
    struct definition definition = parsed(complete);
    must(definition_set(&definition, "injector.mode", "transient")); // one value: replaced
    must(definition_add_parameter(&definition, "faults", "close=-1/EIO"));
    assert_int_equal(definition.parameters.items[0].values.count, 3);
    assert_int_equal(definition.parameters.items[2].values.count, 1);
    assert_string_equal(definition.parameters.items[2].values.items[0], "transient");
    must(definition_set(&definition, "injector.signal.signals", "SIGTERM")); // the others go
    assert_string_equal(definition.injector, "signal");
    assert_int_equal(definition.parameters.count, 1);
    must_say(definition_set(&definition, "injector.faults", "x"),
             "injector 'signal' has no parameter 'faults'");
    must_say(definition_set(&definition, "injector", "nothing"), "there is no injector 'nothing'");
    definition_deinit(&definition);
}

static void unknown_flags_are_named(void **state)
{
    struct definition definition = parsed("command: x\n");
    must_say(definition_set(&definition, "sede", "1"), "there is no key 'sede' (did you mean "
                                                       "'seed'?)");
    must_say(definition_set(&definition, "oracle", "1"), "name one of them");
    must_say(definition_set(&definition, "jobs", "x"), "jobs: expected a whole number");
    must_say(definition_set(&definition, "oracle.filters", "x"), "expected s/REGEX/TEXT/");
    definition_deinit(&definition);
}

static void a_file_gives_name_and_directory(void **state)
{
    assert_int_equal(
        system("mkdir sub && printf 'input: data\\nselection: {sample: 1, weights: w}\\n"
               "directory: .' >sub/night.run.yaml"),
        0);
    struct definition definition;
    must(definition_new(&definition));
    must(definition_read(&definition, "sub/night.run.yaml"));
    char path[200];
    snprintf(path, sizeof path, "%s/sub/data", (char *)*state);
    assert_string_equal(definition.name, "night.run");
    assert_string_equal(definition.input, path);
    snprintf(path, sizeof path, "%s/sub/w", (char *)*state);
    assert_string_equal(definition.selection.weights_file, path);
    snprintf(path, sizeof path, "%s/sub/.", (char *)*state);
    assert_string_equal(definition.directory, path);
    must_say(definition_read(&definition, "missing.yaml"), "missing.yaml: No such file");
    definition_deinit(&definition);
}

static void seeds_differ_unless_given(void **state)
{
    struct definition a = parsed("command: x\n"), b = parsed("command: x\n");
    assert_true(a.seed != b.seed);
    definition_deinit(&a);
    definition_deinit(&b);
}

static void check_finds(const char *text, const char *part)
{
    struct definition definition = parsed(text);
    must_say(definition_check(&definition), part);
    definition_deinit(&definition);
}

#define GOOD_FAULT "injector: {library: {faults: ['read=-1/EIO']}}\n"

static void what_can_be_checked_is_checked(void **state)
{
    struct definition good = parsed("command: [cat]\n" GOOD_FAULT);
    must(definition_check(&good));
    definition_deinit(&good);
    check_finds(GOOD_FAULT, "no command is given");
    check_finds("command: [cat]\n", "say what to inject");
    check_finds("command: [no-such-program]\n" GOOD_FAULT,
                "command: there is no program 'no-such-program'");
    check_finds("command: [./none]\n" GOOD_FAULT, "there is no program './none'");
    check_finds("command: [cat]\nposttest: [nowhere]\n" GOOD_FAULT,
                "posttest: there is no program");
    check_finds("command: [cat]\ndirectory: /nowhere\n" GOOD_FAULT, "directory: /nowhere");
    check_finds("command: [cat]\ninput: /nowhere\n" GOOD_FAULT, "input: cannot read /nowhere");
    check_finds("command: [cat]\ninjector: library\n", "injector 'library' needs 'faults'");
    refuses_with("timeout: 3s\n", "(did you mean 'oracle.timeout'?)");
    refuses_with("command: [cat]\ninjector: {library: {faults: ['read=-1/EIOO']}}\n",
                 "x.yaml:2:40: 'EIOO' is not an errno");
    check_finds("command: [cat]\ninjector: {library: {faults: ['read watch']}}\n",
                "injects nothing");
    check_finds("command: [cat]\ninjector: {signal: {signals: [TREM]}}\n", "did you mean SIGTERM?");
    check_finds("command: [cat]\ninjector: {signal: {signals: [TERM], window: 1..0}}\n", "window");
    check_finds("command: [cat]\ninjector: {signal: {signals: [TERM], times: 0}}\n", "times");
    check_finds("command: [cat]\nselection: sweep\ninjector: {signal: {signals: [TERM]}}\n",
                "injector 'signal' cannot sweep");
    check_finds("command: [cat]\nselection: sweep\ninjector: {library: {faults: ['read=0'], at: "
                "site}}\n",
                "cannot be swept");
    check_finds("command: [cat]\nselection: sample\n" GOOD_FAULT, "a sample of how many?");
    check_finds("command: [cat]\nselection: {per: type}\n" GOOD_FAULT, "add 'sample: N'");
    check_finds("command: [cat]\nselection: {most: 5}\n" GOOD_FAULT, "the end of a sweep");
    check_finds("command: [cat]\nselection: {sample: 5, weights: none}\n" GOOD_FAULT, "none");
}

// Every key has its place in the manual page, written as ".It Cm KEY".
static void the_manual_has_every_key(void **state)
{
    char path[4096];
    struct buffer page = {0};
    snprintf(path, sizeof path, "%s/docs/ordeal-campaign.5", getenv("ORDEAL_SOURCE_ROOT"));
    must(buffer_read_file(path, 1 << 20, &page));
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        char line[100];
        snprintf(line, sizeof line, "\n.It Cm %s", field->key);
        const char *found = strstr(page.data, line);
        if (found == NULL || strchr(" \n", found[strlen(line)]) == NULL)
            fail_msg("docs/ordeal-campaign.5 lacks '.It Cm %s'", field->key);
    }
    for (size_t i = 0; injectors[i] != NULL; i++)
        for (const struct injector_parameter *at = injectors[i]->parameters; at->name != NULL;
             at++) {
            char line[100];
            snprintf(line, sizeof line, "\n.It Cm %s.%s", injectors[i]->name, at->name);
            if (strstr(page.data, line) == NULL)
                fail_msg("docs/ordeal-campaign.5 lacks '.It Cm %s.%s'", injectors[i]->name,
                         at->name);
        }
    buffer_deinit(&page);
}

// Checks the table itself.
static void the_table_is_sound(void **state)
{
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        assert_non_null(field->help);
        assert_ptr_equal(schema_find(field->key), field);
        assert_false(schema_is_section(field->key, strlen(field->key)));
        if (field->kind == SCHEMA_BOOL || field->kind == SCHEMA_CHOICE)
            assert_non_null(field->values);
        if (field->kind == SCHEMA_COUNT || field->kind == SCHEMA_COUNT32 ||
            field->kind == SCHEMA_REAL)
            assert_true(field->low < field->high);
        for (const struct schema_field *other = schema_fields; other < field; other++)
            assert_string_not_equal(other->key, field->key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test_setup_teardown(defaults_are_those_of_the_manual, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test(short_forms),
        cmocka_unit_test(errors_name_place_and_remedy),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test_setup_teardown(flags_go_over_the_file, enter_scratch, leave_scratch),
        cmocka_unit_test(parameters_belong_to_an_injector),
        cmocka_unit_test(unknown_flags_are_named),
        cmocka_unit_test_setup_teardown(a_file_gives_name_and_directory, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test(seeds_differ_unless_given),
        cmocka_unit_test_setup_teardown(what_can_be_checked_is_checked, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test(the_manual_has_every_key),
        cmocka_unit_test(the_table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
