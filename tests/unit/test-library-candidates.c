// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the library injector with a real program: candidates from its calls, specs that hit the
// call they name, observations with names, commands that reproduce them. Also the signal injector.
#include "trial-help.h"
#include "victim.h"

#include "engine/shooting.h"
#include "injector/injector.h"
#include "injector/spec.h"
#include "injectors/library/internal.h"
#include "oracle/outcome.h"

#include <limits.h>

// Three calls of getppid from two places; one of getuid, whose failure crashes the program; a child
// that calls getppid once more; then a program with another name in the same process.
static const char source[] = "#include <stdlib.h>\n"
                             "#include <sys/wait.h>\n"
                             "#include <unistd.h>\n"
                             "__attribute__((noinline)) static void twice(void)\n"
                             "{\n"
                             "    for (volatile int i = 0; i < 2; i++)\n"
                             "        getppid();\n"
                             "}\n"
                             "__attribute__((noinline)) static int fragile(void)\n"
                             "{\n"
                             "    if (getuid() == 12345)\n"
                             "        *(volatile int *)0 = 1;\n"
                             "    return 0;\n"
                             "}\n"
                             "int main(int count, char **words)\n"
                             "{\n"
                             "    twice();\n"
                             "    getppid();\n"
                             "    fragile();\n"
                             "    if (fork() == 0)\n"
                             "        _exit(getppid() < 0);\n"
                             "    wait(NULL);\n"
                             "    if (count > 1)\n"
                             "        execl(words[1], words[1], (char *)NULL);\n"
                             "    return 0;\n"
                             "}\n";

static char directory[PATH_MAX];

static int build(void **state)
{
    static char runtime[PATH_MAX];
    if (victim_setup(state) != 0)
        return -1;
    // A name that needs quotes everywhere.
    victim_build(victim_compiler(), "caller", source, "-g -O1 -fno-inline");
    if (!victim_run("mkdir 'a [b] *c' && cp caller 'a [b] *c/it'\\''s (me)' && cp caller other"))
        return -1;
    snprintf(directory, sizeof directory, "%s", victim_directory);
    snprintf(runtime, sizeof runtime, "%s/src/runtime/ordeal-runtime.so",
             getenv("ORDEAL_BUILD_ROOT"));
    return setenv("ORDEAL_RUNTIME", runtime, 1);
}

// A definition and what runs it.
struct bench {
    struct definition definition;
    const struct injector *injector;
    struct shooting *shooting;
    ARRAY(struct candidate) candidates;
};

static void set(struct bench *bench, const char *key, const char *value)
{
    must(definition_set(&bench->definition, key, value));
}

static void bench_init(struct bench *bench, const char *command)
{
    *bench = (struct bench){0};
    must(definition_new(&bench->definition));
    set(bench, "directory", directory);
    set(bench, "sandbox.kind", "none");
    char *text = strdup(command);
    for (char *word = strtok(text, "|"); word != NULL; word = strtok(NULL, "|")) {
        char **item = ARRAY_ADD(&bench->definition.command);
        *item = strdup(word);
    }
    ARRAY_ADD(&bench->definition.command);
    bench->definition.command.count--;
    free(text);
}

static struct error *gather(void *data, struct candidate *candidate)
{
    struct bench *bench = data;
    struct candidate *item = ARRAY_ADD(&bench->candidates);
    assert_non_null(item);
    *item = *candidate;
    *candidate = (struct candidate){0};
    return NULL;
}

// Reference runs, then candidates.
static void bench_start(struct bench *bench, unsigned references)
{
    bench->injector = injector_find(bench->definition.injector);
    must(definition_check(&bench->definition));
    must(shooting_new(&bench->definition, bench->injector, &bench->shooting));
    for (unsigned i = 0; i < references; i++) {
        struct outcome_run run = {0};
        must(shooting_run(bench->shooting, NULL, 1, 0, &run));
        assert_int_equal(run.workload.end, SANDBOX_EXIT);
        assert_int_equal(run.observation.activations, 0);
        outcome_run_deinit(&run);
        if (bench->injector->learning != NULL)
            good(bench->injector->learning->learn(shooting_injector(bench->shooting)));
    }
    good(bench->injector->candidates(shooting_injector(bench->shooting), gather, bench));
}

static void bench_deinit(struct bench *bench)
{
    for (size_t i = 0; i < bench->candidates.count; i++)
        candidate_deinit(&bench->candidates.items[i]);
    ARRAY_DEINIT(&bench->candidates);
    shooting_free(bench->shooting);
    definition_deinit(&bench->definition);
}

static const char *spec_of(const struct bench *bench, size_t index)
{
    assert_true(index < bench->candidates.count);
    return bench->candidates.items[index].spec;
}

static struct outcome_run shoot(struct bench *bench, const char *spec)
{
    struct outcome_run run = {0};
    must(shooting_run(bench->shooting, spec, 1, 0, &run));
    return run;
}

static void every_call_is_a_candidate(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    bench_start(&bench, 3);
    // The child's count goes on from its parent's.
    assert_int_equal(bench.candidates.count, 4);
    assert_string_equal(spec_of(&bench, 0), "getppid=-1/EIO when process(1) and count == 1");
    assert_string_equal(spec_of(&bench, 2), "getppid=-1/EIO when process(1) and count == 3");
    assert_string_equal(spec_of(&bench, 3), "getppid=-1/EIO when ancestry(1.1) and count == 4");
    const struct candidate *first = &bench.candidates.items[0], *third = first + 2;
    assert_string_equal(first->type, "getppid=-1/EIO");
    assert_string_equal(first->function, "getppid");
    assert_string_equal(first->component, "caller");
    assert_string_equal(first->series, "getppid=-1/EIO when process(1)");
    assert_int_equal(first->position, 1);
    assert_int_equal(first->line, 7);
    assert_non_null(strstr(first->file, "caller.c"));
    assert_null(bench.candidates.items[1].file); // from which place is not known
    assert_int_equal(third->line, 18);
    for (size_t i = 0; i < bench.candidates.count; i++) {
        struct outcome_run run = shoot(&bench, spec_of(&bench, i));
        assert_int_equal(run.observation.activations, 1);
        assert_int_equal(run.observation.injections.items[0].process, i < 3 ? 1 : 2);
        assert_int_equal(run.observation.injections.items[0].occurrence, i + 1);
        assert_int_not_equal(run.observation.plan_hash, 0);
        outcome_run_deinit(&run);
    }
    bench_deinit(&bench);
}

static void persistent_faults_stay(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    set(&bench, "injector.library.mode", "persistent");
    bench_start(&bench, 1);
    assert_string_equal(spec_of(&bench, 1), "getppid=-1/EIO when process(1) and count >= 2");
    struct outcome_run run = shoot(&bench, spec_of(&bench, 1));
    assert_int_equal(run.observation.activations, 2); // the second and the third
    outcome_run_deinit(&run);
    bench_deinit(&bench);
}

static void globs_become_functions_and_conditions_stay(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "libc:get?id=7");
    set(&bench, "injector.library.faults", "getppid=1 when thread(1) or thread(2)");
    bench_start(&bench, 1);
    assert_string_equal(bench.candidates.items[0].type, "getuid=7");
    assert_string_equal(spec_of(&bench, 0), "libc:getuid=7 when process(1) and count == 1");
    assert_string_equal(spec_of(&bench, 1),
                        "getppid=1 when (thread(1) or thread(2)) and process(1) and count == 1");
    struct outcome_run run = shoot(&bench, spec_of(&bench, 1));
    assert_int_equal(run.observation.activations, 1);
    outcome_run_deinit(&run);
    bench_deinit(&bench);
}

static void places_are_hit_whatever_their_module_is_called(void **state)
{
    struct bench bench;
    bench_init(&bench, "a [b] *c/it's (me)");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    set(&bench, "injector.library.at", "site");
    bench_start(&bench, 2);
    assert_int_equal(bench.candidates.count, 3);
    unsigned lines[] = {7, 18, 21};
    for (size_t i = 0; i < 3; i++) {
        struct outcome_run run = shoot(&bench, spec_of(&bench, i));
        assert_int_equal(run.observation.activations, 1);
        assert_int_equal(run.observation.injections.items[0].line, lines[i]);
        assert_int_equal(bench.candidates.items[i].line, lines[i]);
        assert_null(bench.candidates.items[i].series);
        outcome_run_deinit(&run);
    }
    bench_deinit(&bench);
}

static void stacks_are_told_apart(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    set(&bench, "injector.library.at", "stack");
    bench_start(&bench, 1);
    assert_int_equal(bench.candidates.count, 3); // in twice(), in main(), in the child
    assert_string_equal(spec_of(&bench, 0), "getppid=-1/EIO when process(1) and count == 1");
    assert_string_equal(spec_of(&bench, 1), "getppid=-1/EIO when process(1) and count == 3");
    bench_deinit(&bench);
}

static void programs_in_one_process_are_told_apart(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller|./other");
    set(&bench, "injector.library.faults", "getuid=7");
    bench_start(&bench, 1);
    assert_int_equal(bench.candidates.count, 2);
    assert_string_equal(spec_of(&bench, 0),
                        "getuid=7 when process(1) and process(\"caller\") and count == 1");
    struct outcome_run run = shoot(&bench, spec_of(&bench, 1));
    assert_int_equal(run.observation.activations, 1);
    assert_string_equal(run.observation.injections.items[0].program, "other");
    outcome_run_deinit(&run);
    bench_deinit(&bench);
    bench_init(&bench, "./caller|./caller"); // the same again: once is enough
    set(&bench, "injector.library.faults", "getuid=7");
    bench_start(&bench, 1);
    assert_int_equal(bench.candidates.count, 1);
    assert_string_equal(spec_of(&bench, 0), "getuid=7 when process(1) and count == 1 and once");
    run = shoot(&bench, spec_of(&bench, 0));
    assert_int_equal(run.observation.activations, 1);
    outcome_run_deinit(&run);
    bench_deinit(&bench);
}

static void a_crash_is_seen_with_its_stack(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "getuid=12345");
    bench_start(&bench, 1);
    struct outcome_run run = shoot(&bench, spec_of(&bench, 0));
    const struct observation *seen = &run.observation;
    assert_string_equal(seen->crash, "SIGSEGV at 0x0 in caller");
    assert_true(seen->crash_in_command);
    assert_int_equal(strncmp(seen->crash_key, "fragile (caller)\nmain (caller)\n", 31), 0);
    assert_int_equal(strncmp(seen->crash_stack, "fragile at ", 11), 0);
    assert_non_null(strstr(seen->crash_stack, "caller.c:12 (caller)\nmain at "));
    // Addresses differ from run to run; offsets in a C library without symbols do not.
    assert_null(strstr(seen->crash_key, "\n0x"));
    assert_null(strstr(seen->crash_key, " 0x"));
    const struct injection *injection = &seen->injections.items[0];
    assert_string_equal(injection->fault, "getuid=12345");
    assert_string_equal(injection->symbol, "fragile");
    assert_int_equal(injection->line, 11);
    assert_non_null(strstr(injection->stack, "main at "));
    outcome_run_deinit(&run);
    bench_deinit(&bench);
}

static void a_sweep_goes_from_call_to_call(void **state)
{
    struct bench bench;
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    set(&bench, "selection.kind", "sweep");
    bench_start(&bench, 1);
    assert_int_equal(bench.candidates.count, 2); // one of each process
    struct candidate next = {0}, after = {0};
    void *fresh = NULL; // as after --resume
    const struct injector_setup setup = definition_setup(&bench.definition);
    must(bench.injector->open(&setup, &fresh));
    must(bench.injector->sweep->next(fresh, &bench.candidates.items[0], &next));
    must(bench.injector->sweep->next(fresh, &next, &after));
    assert_string_equal(next.spec, "getppid=-1/EIO when process(1) and count == 2");
    assert_string_equal(after.spec, "getppid=-1/EIO when process(1) and count == 3");
    assert_int_equal(after.position, 3);
    assert_string_equal(after.series, bench.candidates.items[0].series);
    bench.injector->close(fresh);
    candidate_deinit(&next);
    candidate_deinit(&after);
    bench_deinit(&bench);
}

static void a_command_shows_it_again(void **state)
{
    struct bench bench;
    char *command = NULL;
    bench_init(&bench, "./caller|a b");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    set(&bench, "environment", "ADDED=it's");
    bench_start(&bench, 1);
    must(bench.injector->reproduce(shooting_injector(bench.shooting), spec_of(&bench, 0), 7, 0,
                                   &command));
    char wanted[PATH_MAX + 200];
    snprintf(wanted, sizeof wanted,
             "cd %s && ADDED='it'\\''s' ordeal run --inject 'getppid=-1/EIO when process(1) and "
             "count == 1' -- ./caller 'a b' </dev/null",
             directory);
    assert_string_equal(command, wanted);
    free(command);
    must(bench.injector->reproduce(shooting_injector(bench.shooting), "getppid=1 when random(0.5)",
                                   7, 3000000000, &command));
    assert_non_null(
        strstr(command, " ordeal run -t 3 --seed 7 --inject 'getppid=1 when random(0.5)'"));
    free(command);
    must(bench.injector->reproduce(shooting_injector(bench.shooting), spec_of(&bench, 0), 7,
                                   400000000, &command));
    assert_non_null(strstr(command, " ordeal run -t 400ms --inject "));
    free(command);
    bench_deinit(&bench);
}

// A word of all bytes is read back as it was written.
static void words_of_rules_are_quoted(void **state)
{
    static const enum spec_word kinds[] = {SPEC_NAME, SPEC_MODULE};
    for (int byte = 1; byte < 256; byte++)
        for (int i = 0; i < 2; i++) {
            char word[] = {'/', 'm', (char)byte, 'x', '\0'};
            struct scenario *scenario = NULL;
            struct buffer spec = {0};
            must(buffer_printf(&spec, "read=0 when "));
            if (kinds[i] == SPEC_MODULE)
                must(spec_put_site(&spec, word, 16));
            else
                must(spec_put_program(&spec, word));
            must(scenario_new(&scenario));
            must(scenario_add_spec(scenario, spec.data));
            scenario_free(scenario);
            buffer_deinit(&spec);
        }
}

static void static_programs_are_refused(void **state)
{
    struct bench bench;
    victim_build(victim_compiler(), "static", "int main(void) { return 0; }\n", "-static");
    bench_init(&bench, "./static");
    set(&bench, "injector.library.faults", "getppid=-1/EIO");
    must_say(definition_check(&bench.definition), "statically linked");
    set(&bench, "setup", "true"); // might make another one
    must(definition_check(&bench.definition));
    bench_deinit(&bench);
}

static void signals_arrive(void **state)
{
    struct bench bench;
    bench_init(&bench, "/bin/sleep|0.1");
    set(&bench, "injector.signal.signals", "TERM");
    set(&bench, "injector.signal.signals", "SIGUSR1");
    set(&bench, "injector.signal.times", "50");
    set(&bench, "seed", "3");
    bench_start(&bench, 1);
    assert_int_equal(bench.candidates.count, 100);
    double sum = 0, most = 0;
    for (size_t i = 0; i < 100; i++) {
        const struct candidate *candidate = &bench.candidates.items[i];
        double at = strtod(strstr(candidate->spec, " at ") + 4, NULL);
        assert_string_equal(candidate->type, i < 50 ? "SIGTERM" : "SIGUSR1");
        sum += at / 100;
        most = at > most ? at : most;
    }
    assert_true(sum > 0.03 && sum < 0.2 && most > 0.07); // all over the tenth of a second
    struct outcome_run run = shoot(&bench, "SIGTERM at 0.020s");
    assert_int_equal(run.workload.end, SANDBOX_SIGNAL);
    assert_int_equal(run.workload.status, 15);
    assert_int_equal(run.observation.activations, 1);
    assert_string_equal(run.observation.injections.items[0].fault, "SIGTERM");
    assert_true(run.observation.injections.items[0].seconds >= 0.02);
    outcome_run_deinit(&run);
    run = shoot(&bench, "SIGTERM at 30s"); // too late
    assert_int_equal(run.workload.end, SANDBOX_EXIT);
    assert_int_equal(run.observation.activations, 0);
    outcome_run_deinit(&run);
    run = shoot(&bench, "SIGSEGV at 0s"); // dies with a stack, maybe before the runtime is up
    assert_int_equal(run.workload.status, 11);
    outcome_run_deinit(&run);
    must_say(shooting_run(bench.shooting, "nonsense", 1, 0, &run), "is not of the form");
    bench_deinit(&bench);
}

// The analysis does not count as a run's time, and is not done for a run that does not serve.
static void a_run_is_not_analysed_while_it_is_observed(void **state)
{
    struct bench bench;
    struct outcome_run run = {0};
    bench_init(&bench, "./caller");
    set(&bench, "injector.library.faults", "auto");
    bench.injector = injector_find(bench.definition.injector);
    must(shooting_new(&bench.definition, bench.injector, &bench.shooting));
    must(shooting_run(bench.shooting, NULL, 1, 0, &run));
    const struct library *library = shooting_injector(bench.shooting);
    assert_int_equal(library->plan.recording.runs, 1);
    assert_false(library->analysed);
    assert_null(library->watching_stacks);
    outcome_run_deinit(&run);
    bench_deinit(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_a_candidate),
        cmocka_unit_test(persistent_faults_stay),
        cmocka_unit_test(globs_become_functions_and_conditions_stay),
        cmocka_unit_test(places_are_hit_whatever_their_module_is_called),
        cmocka_unit_test(stacks_are_told_apart),
        cmocka_unit_test(programs_in_one_process_are_told_apart),
        cmocka_unit_test(a_crash_is_seen_with_its_stack),
        cmocka_unit_test(a_sweep_goes_from_call_to_call),
        cmocka_unit_test(a_command_shows_it_again),
        cmocka_unit_test(a_run_is_not_analysed_while_it_is_observed),
        cmocka_unit_test(words_of_rules_are_quoted),
        cmocka_unit_test(static_programs_are_refused),
        cmocka_unit_test(signals_arrive),
    };
    return cmocka_run_group_tests(tests, build, victim_teardown);
}
