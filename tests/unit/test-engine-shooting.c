// SPDX-License-Identifier: GPL-3.0-or-later
// One shot: which steps run when, what they get, when the injector is asked. With an injector that
// only takes notes, in the sandbox that is there everywhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/shooting.h"
#include "ptrace-help.h"
#include "victim.h"

#include <signal.h>

static char notes[256]; // what the injector was asked, a letter each
static char *marked[] = {"PATH=/usr/bin:/bin", "FAULTY=yes", NULL};
static bool fail_begin;
static uint64_t first_tick = UINT64_MAX;

static void note(const char *what)
{
    strncat(notes, what, sizeof notes - strlen(notes) - 1);
}
static struct error *open_notes(const struct injector_setup *setup, void **ret_self)
{
    *ret_self = notes;
    return NULL;
}
static void close_notes(void *self)
{
    note("c");
}
static struct error *prepare(void *self, struct shot *shot)
{
    note(shot->spec != NULL ? "P" : "p");
    shot->use_environment = marked;
    return NULL;
}
static struct error *begin(void *self, const char *root)
{
    note("b");
    return fail_begin ? error_new("cannot begin") : NULL;
}
static uint64_t started(void *self, pid_t pid)
{
    note("s");
    return first_tick;
}
static uint64_t tick(void *self, pid_t pid, uint64_t ns)
{
    note("t");
    return UINT64_MAX;
}
static struct error *observe(void *self, const char *root, struct observation *ret_observation)
{
    note("o");
    ret_observation->activations = 1;
    return NULL;
}
static const struct injector_outside outside = {.started = started, .tick = tick};
static const struct injector injector = {.name = "notes",
                                         .open = open_notes,
                                         .close = close_notes,
                                         .prepare = prepare,
                                         .begin = begin,
                                         .outside = &outside,
                                         .observe = observe};

struct bench {
    struct definition definition;
    struct shooting *shooting;
};

static void add(struct words *words, const char *word)
{
    char **slot = ARRAY_ADD(words);
    assert_non_null(slot);
    *slot = strdup(word);
}

static void shell(struct words *words, const char *command)
{
    add(words, "sh");
    add(words, "-c");
    add(words, command);
}

static void clear(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    ARRAY_DEINIT(words);
}

// A workload and nothing else, yet.
static struct bench bench(const char *workload)
{
    struct bench made = {0};
    made.definition.directory = victim_directory;
    made.definition.sandbox = SANDBOX_NONE;
    made.definition.oracle.compare_files = true;
    add(&made.definition.environment, "PATH=/usr/bin:/bin");
    shell(&made.definition.command, workload);
    return made;
}

static struct outcome_run shoot(struct bench *bench, const char *spec, uint64_t timeout_ms)
{
    struct outcome_run run = {0};
    notes[0] = '\0';
    good(shooting_new(&bench->definition, &injector, &bench->shooting));
    good(shooting_run(bench->shooting, spec, 1, timeout_ms * 1000000, &run));
    return run;
}

static void done(struct bench *bench, struct outcome_run *run)
{
    shooting_free(bench->shooting);
    outcome_run_deinit(run);
    struct words *all[] = {&bench->definition.command,     &bench->definition.setup,
                           &bench->definition.teardown,    &bench->definition.pretest,
                           &bench->definition.posttest,    &bench->definition.oracle.command,
                           &bench->definition.environment, &bench->definition.oracle.ignored};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        clear(all[i]);
}

static void test_workload_alone(void **state)
{
    struct bench made = bench("echo out; echo err >&2; echo text >made; exit 5");
    struct outcome_run run = shoot(&made, NULL, 0);
    assert_string_equal(notes, "pbso");
    assert_int_equal(run.workload.end, SANDBOX_EXIT);
    assert_int_equal(run.workload.status, 5);
    assert_int_equal(run.setup.end, SANDBOX_SKIPPED);
    assert_int_equal(run.artifacts.count, 3);
    assert_string_equal(run.artifacts.items[0].path, "<stdout>");
    assert_string_equal(run.artifacts.items[0].content.data, "out\n");
    assert_string_equal(run.artifacts.items[1].content.data, "err\n");
    assert_string_equal(run.artifacts.items[2].path, victim_path("made"));
    assert_string_equal(run.artifacts.items[2].content.data, "text\n");
    done(&made, &run);
    assert_string_equal(notes, "pbsoc");
    unlink(victim_path("made"));
}

// All steps in order; the fault is for the workload alone; what later steps do is not the
// workload's.
static void test_order(void **state)
{
    struct bench made = bench("echo workload$FAULTY >>log; sleep 0.05");
    shell(&made.definition.setup, "echo setup$FAULTY >>log");
    shell(&made.definition.pretest, "echo pretest$FAULTY >>log");
    shell(&made.definition.posttest, "echo posttest$FAULTY >>log; touch later");
    shell(&made.definition.oracle.command, "echo oracle$FAULTY >>log; echo pass");
    shell(&made.definition.teardown, "echo teardown$FAULTY >>log; cat log; rm -f log later");
    first_tick = 1000000;
    struct outcome_run run = shoot(&made, "spec", 0);
    first_tick = UINT64_MAX;
    assert_string_equal(notes, "Pbsto");
    assert_string_equal(run.teardown.out.kept.data,
                        "setup\npretest\nworkloadyes\nposttest\noracle\nteardown\n");
    assert_int_equal(run.artifacts.count, 3);
    assert_string_equal(run.artifacts.items[2].content.data, "setup\npretest\nworkloadyes\n");
    done(&made, &run);
}

static void test_failing_preparation(void **state)
{
    struct bench made = bench("touch ran");
    shell(&made.definition.setup, "exit 1");
    shell(&made.definition.pretest, "touch ran");
    shell(&made.definition.posttest, "touch ran");
    shell(&made.definition.teardown, "echo teardown");
    struct outcome_run run = shoot(&made, "spec", 0);
    assert_string_equal(notes, "P");
    assert_true(run.setup_failed);
    assert_int_equal(run.pretest.end, SANDBOX_SKIPPED);
    assert_int_equal(run.workload.end, SANDBOX_SKIPPED);
    assert_int_equal(run.posttest.end, SANDBOX_SKIPPED);
    assert_string_equal(run.teardown.out.kept.data, "teardown\n");
    assert_int_equal(access(victim_path("ran"), F_OK), -1);
    done(&made, &run);
}

static void test_overdue(void **state)
{
    struct bench made = bench("exec sleep 100");
    shell(&made.definition.posttest, "touch ran");
    shell(&made.definition.oracle.command, "touch ran");
    shell(&made.definition.teardown, "echo teardown");
    struct outcome_run run = shoot(&made, "spec", 200);
    assert_int_equal(run.workload.end, SANDBOX_TIMEOUT);
    assert_string_equal(run.remaining, "sleep");
    const char *refused = no_ptrace();
    if (refused != NULL) {
        skip_in_part("no ptrace(): %s", refused);
    } else {
        assert_non_null(run.hang_stack);
        assert_non_null(strstr(run.hang_key, "nanosleep"));
    }
    assert_int_equal(run.posttest.end, SANDBOX_SKIPPED);
    assert_int_equal(run.oracle.end, SANDBOX_SKIPPED);
    assert_int_equal(run.teardown.end, SANDBOX_EXIT);
    assert_int_equal(access(victim_path("ran"), F_OK), -1);
    done(&made, &run);
}

// The command is gone; what it left behind keeps the trial waiting.
static void test_left_behind(void **state)
{
    struct bench made = bench("sleep 100 & exit 0");
    struct outcome_run run = shoot(&made, NULL, 200);
    assert_int_equal(run.workload.end, SANDBOX_TIMEOUT);
    assert_string_equal(run.remaining, "sleep");
    done(&made, &run);
}

static void test_input(void **state)
{
    victim_write("input", "line 1\nline 2\n", 14, 0600);
    struct bench made = bench("cat");
    made.definition.input = "input"; // in the working directory
    shell(&made.definition.pretest, "cat");
    struct outcome_run run = shoot(&made, "spec", 0);
    assert_string_equal(run.workload.out.kept.data, "line 1\nline 2\n");
    assert_int_equal(run.pretest.out.size, 0);
    struct outcome_run again = {0};
    good(shooting_run(made.shooting, "spec", 1, 0, &again)); // from its beginning
    assert_int_equal(again.workload.out.size, 14);
    outcome_run_deinit(&again);
    unlink(victim_path("input"));
    bad(shooting_run(made.shooting, "spec", 1, 0, &again), "/input for the workload");
    done(&made, &run);
}

static void test_trial_directory(void **state)
{
    struct bench made = bench("printf 'a\\0b'; echo err >&2; echo x >\"one\ntwo\"; kill -9 $$");
    shell(&made.definition.oracle.command,
          "cd $ORDEAL_TRIAL && ls && od -c stdout | head -1 && "
          "cat stderr changes && grep -v seconds status && echo $1 "
          ">where-it-was");
    struct outcome_run run = shoot(&made, "read=-1\n", 0);
    assert_int_equal(run.oracle.status, 0);
    char expected[512];
    snprintf(expected, sizeof expected,
             "changes\nstatus\nstderr\nstdout\n0000000   a  \\0   b\nerr\nfile %s/one\\ntwo\n"
             "outcome=signal\nstatus=9\nstdout_bytes=3\nstderr_bytes=4\nreference=no\n"
             "spec=read=-1\\n\nseed=1\n",
             victim_directory);
    assert_string_equal(run.oracle.out.kept.data, expected);
    unlink(victim_path("one\ntwo"));
    done(&made, &run);
}

static void test_failing_injector(void **state)
{
    struct bench made = bench("touch ran");
    struct outcome_run run = {0};
    fail_begin = true;
    notes[0] = '\0';
    good(shooting_new(&made.definition, &injector, &made.shooting));
    bad(shooting_run(made.shooting, "spec", 1, 0, &run), "cannot begin");
    fail_begin = false;
    assert_string_equal(notes, "Pb");
    assert_int_equal(access(victim_path("ran"), F_OK), -1);
    done(&made, &run);
}

static void test_complaints(void **state)
{
    static const char report[] = "SUMMARY: AddressSanitizer: stack-overflow a.c:1 in f";
    char command[256];
    snprintf(command, sizeof command, "echo '%s' >asan.$$; echo 'b.c:1:2: runtime error: x' >&2",
             report);
    struct bench made = bench(command);
    add(&made.definition.environment, "ASAN_OPTIONS=log_path=asan");
    struct outcome_run run = shoot(&made, "spec", 0);
    assert_non_null(run.sanitizer);
    assert_non_null(strstr(run.sanitizer, "AddressSanitizer: stack-overflow a.c:1 in f\n"));
    assert_non_null(strstr(run.sanitizer, "UndefinedBehaviorSanitizer: x at b.c:1:2\n"));
    assert_true(victim_run("rm -f asan.*"));
    done(&made, &run);
}

static const struct artifact *find_artifact(const struct outcome_run *run, const char *path)
{
    for (size_t i = 0; i < run->artifacts.count; i++)
        if (strcmp(run->artifacts.items[i].path, path) == 0)
            return &run->artifacts.items[i];
    return NULL;
}

static void test_ignored_and_many(void **state)
{
    struct bench made = bench("mkdir many; i=0; while [ $i -lt 300 ]; do echo $i >many/$i; "
                              "i=$((i + 1)); done; head -c 200000 /dev/zero | tr '\\0' x >big; "
                              "head -c 100 /dev/zero >bin");
    struct outcome_run run = shoot(&made, "spec", 0);
    assert_int_equal(run.artifacts.count, 2 + 301 + 2);
    const struct artifact *big = find_artifact(&run, victim_path("big"));
    assert_int_equal(big->size, 200000);
    assert_int_equal(big->content.size, ARTIFACT_CONTENT);
    assert_int_equal(find_artifact(&run, victim_path("bin"))->content.size, 0);
    done(&made, &run);
    assert_true(victim_run("rm -rf many big bin"));
    made = bench("mkdir many; touch many/a many/b keep");
    add(&made.definition.oracle.ignored, "many");
    run = shoot(&made, "spec", 0);
    assert_int_equal(run.artifacts.count, 3);
    done(&made, &run);
    assert_true(victim_run("rm -rf many keep"));
}

// In a copy every slot has another working directory, which must not be seen.
static void test_copy(void **state)
{
    char *outputs[2] = {0}, *paths[2] = {0};
    uint64_t hashes[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct bench made = bench("pwd; pwd >where; pwd >&2");
        made.definition.sandbox = SANDBOX_COPY;
        struct outcome_run run = shoot(&made, "spec", 0);
        outputs[i] = strdup(run.artifacts.items[0].content.data);
        paths[i] = strdup(run.artifacts.items[2].path);
        hashes[i] = run.artifacts.items[2].hash;
        done(&made, &run);
    }
    assert_string_equal(outputs[0], outputs[1]);
    assert_string_equal(paths[0], victim_path("where"));
    assert_string_equal(paths[1], victim_path("where"));
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_equal(access(victim_path("where"), F_OK), -1);
    for (int i = 0; i < 2; i++) {
        free(outputs[i]);
        free(paths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workload_alone),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failing_preparation),
        cmocka_unit_test(test_overdue),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_trial_directory),
        cmocka_unit_test(test_failing_injector),
        cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_ignored_and_many),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
