// SPDX-License-Identifier: GPL-3.0-or-later
// Job slots: results come back; slots that die or hang are replaced and say so; none is left over.
#include "base/choice.h"
#include "definition/schema.h"
#include "engines/local/pool.h"

#include "base/clock.h"
#include "base/processes.h"
#include "engine/shooting.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

// An injector whose specs are what befalls the slot itself.
static struct error *open_injector(const struct injector_setup *setup, void **ret_self)
{
    *ret_self = NULL;
    return getenv("TEST_REFUSE") != NULL ? error_new("not today") : NULL;
}
static void close_injector(void *self) {}
static struct error *prepare(void *self, struct shot *shot)
{
    if (shot->spec == NULL)
        return NULL;
    if (strcmp(shot->spec, "die") == 0)
        raise(SIGKILL);
    if (strcmp(shot->spec, "die once") == 0 && unlink("test-engine-pool-died") != 0) {
        close(open("test-engine-pool-died", O_WRONLY | O_CREAT, 0600));
        raise(SIGKILL);
    }
    if (strcmp(shot->spec, "exit") == 0)
        _exit(7);
    if (strcmp(shot->spec, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(shot->spec, "error") == 0)
        return error_new("no such fault");
    return NULL;
}
static struct error *observe(void *self, const char *root, struct observation *ret_observation)
{
    *ret_observation = (struct observation){.activations = 1};
    return NULL;
}
// Jobs that come together run one after the other.
static struct error *prepare_forks(void *self, struct shot *shot, const struct fork_shot *shots,
                                   size_t count, bool *suits)
{
    return error_new("no forks");
}
static const struct injector_forks forks = {.prepare = prepare_forks};
static const struct injector injector = {
    .name = "test",
    .forks = &forks,
    .open = open_injector,
    .close = close_injector,
    .prepare = prepare,
    .observe = observe,
};

static struct definition definition;
static struct reference *reference;

static int set_up(void **state)
{
    ok(definition_new(&definition));
    ok(definition_set(&definition, "sandbox.kind", "none"));
    ok(definition_set(&definition, "oracle.compare", "stdout"));
    char **word = ARRAY_ADD(&definition.command);
    *word = strdup("true");
    struct shooting *shooting;
    struct outcome_run run;
    ok(reference_new(&definition.oracle, &reference));
    ok(shooting_new(&definition, &injector, &shooting));
    ok(shooting_run(shooting, NULL, 1, 0, &run));
    ok(reference_add(reference, &run));
    outcome_run_deinit(&run);
    ok(reference_settle(reference));
    shooting_free(shooting);
    return 0;
}

static int tear_down(void **state)
{
    reference_free(reference);
    definition_deinit(&definition);
    return 0;
}

static void *start(unsigned workers, bool ahead, uint64_t stuck_ns)
{
    const struct engine_options options = {
        .task = {.definition = &definition, .injector = &injector, .reference = reference},
        .workers = workers,
        .stuck_ns = stuck_ns,
        .ahead = ahead,
    };
    void *pool = NULL;
    ok(engine_local.start(&options, &pool));
    return pool;
}

static struct engine_result run(void *pool, const char *spec, uint64_t tag)
{
    struct engine_job job = {.candidate = 4, .spec = spec, .seed = 9, .tag = tag};
    struct engine_result result;
    ok(engine_local.offer(pool, &job, 1));
    for (int i = 0; i < 200; i++) {
        bool got;
        ok(engine_local.take(pool, 100 * NS_PER_MS, &got, &result));
        if (got)
            return result;
    }
    fail_msg("no answer");
    abort();
}

static void expect(void *pool, const char *spec, enum verdict verdict, const char *reason)
{
    struct engine_result result = run(pool, spec, 5);
    assert_int_equal(result.judgement.verdict, verdict);
    assert_int_equal(result.job.tag, 5);
    assert_int_equal(result.job.candidate, 4);
    if (reason != NULL)
        assert_string_equal(result.judgement.reason, reason);
    engine_result_deinit(&result);
    assert_int_equal(engine_local.load(pool).busy, 0);
}

static void none_left(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_results(void **state)
{
    void *pool = start(2, false, 0);
    assert_int_equal(engine_local.load(pool).idle, 2);
    expect(pool, "fault", VERDICT_PASS, NULL);
    expect(pool, "error", VERDICT_INVALID, NULL);
    // More than there are slots.
    const struct engine_job job = {.spec = "hang"};
    ok(engine_local.offer(pool, &job, 1));
    ok(engine_local.offer(pool, &job, 1));
    assert_int_equal(engine_local.load(pool).idle, 0);
    struct error *error = engine_local.offer(pool, &job, 1);
    assert_non_null(error);
    error_free(error);
    engine_local.end(pool); // with both hanging
    none_left();
}

static void test_deaths(void **state)
{
    void *pool = start(1, false, 0);
    expect(pool, "die", VERDICT_INVALID,
           "the process that led the trial died, and so did that of its second run, which was "
           "killed by signal 9 (Killed)");
    expect(pool, "fault", VERDICT_PASS, NULL);
    expect(pool, "exit", VERDICT_INVALID,
           "the process that led the trial died, and so did that of its second run, which ended "
           "with status 7");
    engine_local.end(pool);
    pool = start(1, false, 200 * NS_PER_MS);
    expect(pool, "hang", VERDICT_INVALID,
           "the process that led the trial died, and so did that of its second run, which was "
           "ended: no answer after 0.2 s");
    engine_local.end(pool);
    none_left();
}

// Somebody kills a slot that does nothing.
static void test_killed_idle(void **state)
{
    void *pool = start(1, false, 0);
    expect(pool, "fault", VERDICT_PASS, NULL);
    pid_list children = {0};
    ok(processes_children(&children));
    assert_int_equal(children.count, 1);
    assert_int_equal(kill(children.items[0], SIGKILL), 0);
    ARRAY_DEINIT(&children);
    bool got;
    struct engine_result result;
    ok(engine_local.take(pool, 1000 * NS_PER_MS, &got, &result));
    assert_false(got);
    expect(pool, "fault", VERDICT_PASS, NULL);
    engine_local.end(pool);
    none_left();
}

static void test_refusal(void **state)
{
    void *pool;
    setenv("TEST_REFUSE", "1", 1);
    pool = start(1, false, 0);
    unsetenv("TEST_REFUSE");
    struct engine_result result;
    bool got;
    struct error *error = engine_local.take(pool, 5000 * NS_PER_MS, &got, &result);
    assert_non_null(error);
    assert_string_equal(error_message(error), "a job slot cannot work: not today");
    error_free(error);
    engine_local.end(pool);
    none_left();
}

// The pool gives up, with the reason. Jobs of other slots in between do not make up for it.
static void test_always_dying(void **state)
{
    void *pool = start(1, false, 0);
    unsigned lost = 0;
    while (engine_local.failure(pool) == NULL) {
        const struct engine_job job = {.spec = "die"};
        ok(engine_local.offer(pool, &job, 1));
        struct engine_result result;
        bool got = false;
        while (!got && engine_local.failure(pool) == NULL)
            ok(engine_local.take(pool, 1000 * NS_PER_MS, &got, &result));
        lost += got;
        if (got)
            engine_result_deinit(&result);
        assert_in_range(lost, 0, 10);
    }
    assert_string_equal(engine_local.failure(pool),
                        "a job slot died 10 times without a result in between; the last process "
                        "was killed by signal 9 (Killed); is memory short, or does the workload "
                        "kill processes that are not its own?");
    assert_int_equal(engine_local.load(pool).room, 0);
    engine_local.end(pool);
    none_left();
}

static struct engine_result next_result(void *pool)
{
    struct engine_result result;
    for (bool got = false; !got;)
        ok(engine_local.take(pool, 1000 * NS_PER_MS, &got, &result));
    return result;
}

static void submit(void *pool, const char *spec, uint64_t tag)
{
    const struct engine_job job = {.spec = spec, .tag = tag};
    ok(engine_local.offer(pool, &job, 1));
}

static void expect_next(void *pool, uint64_t tag, enum verdict verdict)
{
    struct engine_result result = next_result(pool);
    assert_int_equal(result.job.tag, tag);
    assert_int_equal(result.judgement.verdict, verdict);
    engine_result_deinit(&result);
}

// A job that waits behind another has its turn, also when the slot dies over the first, which has
// its second try when nothing else is to be done.
static void test_work_ahead(void **state)
{
    void *pool = start(1, true, 0);
    assert_int_equal(engine_local.load(pool).room, 1);
    submit(pool, "fault", 1);
    assert_int_equal(engine_local.load(pool).idle, 0);
    assert_int_equal(engine_local.load(pool).room, 1);
    submit(pool, "fault", 2);
    assert_int_equal(engine_local.load(pool).room, 0);
    expect_next(pool, 1, VERDICT_PASS);
    assert_int_equal(engine_local.load(pool).busy, 1);
    submit(pool, "die", 3);
    expect_next(pool, 2, VERDICT_PASS);
    submit(pool, "fault", 4);
    expect_next(pool, 4, VERDICT_PASS);
    assert_int_equal(engine_local.load(pool).busy, 1);
    submit(pool, "exit", 5);
    expect_next(pool, 3, VERDICT_INVALID);
    expect_next(pool, 5, VERDICT_INVALID);
    assert_int_equal(engine_local.load(pool).busy, 0);
    expect(pool, "fault", VERDICT_PASS, NULL);
    engine_local.end(pool);
    none_left();
}

// The job that ran when the slot died is tried a second time, with success.
static void test_second_try(void **state)
{
    void *pool = start(1, true, 0);
    unlink("test-engine-pool-died");
    submit(pool, "die once", 1);
    submit(pool, "fault", 2);
    bool seen[3] = {0};
    for (int i = 0; i < 2; i++) {
        struct engine_result result = next_result(pool);
        assert_int_equal(result.judgement.verdict, VERDICT_PASS);
        seen[result.job.tag] = true;
        engine_result_deinit(&result);
    }
    assert_true(seen[1] && seen[2]);
    assert_int_equal(engine_local.load(pool).busy, 0);
    engine_local.end(pool);
    none_left();
}

// A lot whose slot dies is not lost: every job comes back once, each with its own verdict.
static void test_lot_of_dead_slot(void **state)
{
    static const char *const specs[] = {"fault", "die", "fault", "die once", "error", "fault"};
    enum { COUNT = sizeof specs / sizeof *specs };
    struct engine_job jobs[COUNT];
    unsigned seen[COUNT] = {0};
    void *pool = start(2, true, 0);
    unlink("test-engine-pool-died");
    for (unsigned i = 0; i < COUNT; i++)
        jobs[i] = (struct engine_job){.spec = specs[i], .tag = i, .candidate = 100 + i};
    ok(engine_local.offer(pool, jobs, COUNT));
    for (unsigned i = 0; i < COUNT; i++) {
        struct engine_result result = next_result(pool);
        const char *spec = specs[result.job.tag];
        bool invalid = strcmp(spec, "die") == 0 || strcmp(spec, "error") == 0;
        seen[result.job.tag]++;
        assert_int_equal(result.job.candidate, 100 + result.job.tag);
        assert_int_equal(result.judgement.verdict, invalid ? VERDICT_INVALID : VERDICT_PASS);
        engine_result_deinit(&result);
    }
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(engine_local.load(pool).busy, 0);
    assert_int_equal(engine_local.load(pool).idle, 2);
    engine_local.end(pool);
    none_left();
}

// What has not begun when the rest is withdrawn does not begin either because its slot dies.
static void test_withdrawn_lot_of_dead_slot(void **state)
{
    const struct engine_job jobs[] = {
        {.spec = "hang", .tag = 0}, {.spec = "fault", .tag = 1}, {.spec = "fault", .tag = 2}};
    void *pool = start(1, false, 300 * NS_PER_MS);
    ok(engine_local.offer(pool, jobs, 3));
    ok(engine_local.withdraw(pool));
    for (int i = 0; i < 3; i++) {
        struct engine_result result = next_result(pool);
        if (result.job.tag != 0)
            assert_int_equal(result.way, WAY_NOT_RUN);
        engine_result_deinit(&result);
    }
    assert_int_equal(engine_local.load(pool).busy, 0);
    engine_local.end(pool);
    none_left();
}

// A lot does not wait behind another job, and nothing waits behind a lot.
static void test_lots_apart(void **state)
{
    void *pool;
    const struct engine_job jobs[2] = {{.spec = "hang", .tag = 1}, {.spec = "hang", .tag = 2}};
    pool = start(1, true, 0);
    submit(pool, "hang", 3);
    struct error *error = engine_local.offer(pool, jobs, 2);
    assert_non_null(error);
    error_free(error);
    assert_int_equal(engine_local.load(pool).room, 1);
    engine_local.end(pool);
    pool = start(1, true, 0);
    ok(engine_local.offer(pool, jobs, 2));
    assert_int_equal(engine_local.load(pool).room, 0);
    engine_local.end(pool);
    none_left();
}

// What a definition may say is what there is.
static void test_names(void **state)
{
    const struct schema_field *field = schema_find("engine");
    size_t count = 0, size;
    for (; engines[count] != NULL; count++) {
        const char *word = choice_word(field->values, (int)count, &size);
        assert_int_equal(size, strlen(engines[count]->name));
        assert_memory_equal(word, engines[count]->name, size);
        const struct engine *found = NULL;
        ok(engine_named(engines[count]->name, &found));
        assert_ptr_equal(found, engines[count]);
    }
    choice_word(field->values, (int)count, &size);
    assert_int_equal(size, 0);
    const struct engine *none = NULL;
    struct error *error = engine_named("none", &none);
    assert_null(none);
    assert_string_equal(error_message(error), "there is no engine 'none'; there are: local, slurm");
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_deaths),
        cmocka_unit_test(test_killed_idle),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_always_dying),
        cmocka_unit_test(test_work_ahead),
        cmocka_unit_test(test_lots_apart),
        cmocka_unit_test(test_second_try),
        cmocka_unit_test(test_lot_of_dead_slot),
        cmocka_unit_test(test_withdrawn_lot_of_dead_slot),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
