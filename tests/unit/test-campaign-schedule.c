// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which trial comes next. Each comes once, in an order that depends on the seed alone and is
// the same after every kill. Sweeps store the same results however many trials run at once.
#include "campaign/schedule.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

struct scene {
    char directory[64], path[96];
    struct store *store;
    struct store_campaign campaign;
    struct definition definition;
    struct injector injector;
    struct schedule *schedule;
    uint64_t activated_to[4]; // by series: up to which position the fault is hit
    // What was stored, in order.
    uint64_t kept[4000];
    size_t kept_count;
};

// The candidate after "s2@3" is "s2@4".
static struct error *next_position(void *self, const struct candidate *last,
                                   struct candidate *ret_next)
{
    char spec[32];
    snprintf(spec, sizeof spec, "%s@%d", last->series, (int)last->position + 1);
    *ret_next = (struct candidate){.spec = strdup(spec),
                                   .type = strdup("fault"),
                                   .series = strdup(last->series),
                                   .position = last->position + 1,
                                   .weight = 1};
    return NULL;
}

static const struct injector_sweep sweep = {.next = next_position};

static void scene_open(struct scene *scene, enum selection_kind kind, uint64_t repeat)
{
    *scene = (struct scene){.directory = "/tmp/test-campaign-schedule.XXXXXX"};
    assert_non_null(mkdtemp(scene->directory));
    snprintf(scene->path, sizeof scene->path, "%s/x.db", scene->directory);
    ok(store_open(scene->path, STORE_WRITE, &scene->store));
    scene->campaign = (struct store_campaign){.name = "x",
                                              .injector = "x",
                                              .definition = "",
                                              .command = "x",
                                              .directory = "/",
                                              .version = "",
                                              .machine = "",
                                              .seed = 5};
    ok(store_add_campaign(scene->store, &scene->campaign));
    scene->definition.seed = 5;
    scene->definition.selection = (struct selection){.kind = kind, .repeat = repeat};
    scene->injector = (struct injector){.name = "x", .sweep = &sweep};
}

static void scene_close(struct scene *scene)
{
    schedule_free(scene->schedule);
    store_close(scene->store);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", scene->directory);
    assert_int_equal(system(command), 0);
}

static void scene_load(struct scene *scene)
{
    schedule_free(scene->schedule);
    scene->schedule = NULL;
    const struct schedule_options options = {.definition = &scene->definition,
                                             .injector = &scene->injector,
                                             .store = scene->store,
                                             .campaign = scene->campaign.id};
    ok(schedule_load(&options, &scene->schedule));
}

static void add_candidate(struct scene *scene, uint64_t number, const char *series, bool selected)
{
    char spec[32];
    snprintf(spec, sizeof spec, "%s@%d", series != NULL ? series : "c",
             series != NULL ? 1 : (int)number);
    struct store_candidate row = {.campaign = scene->campaign.id,
                                  .number = number,
                                  .spec = spec,
                                  .type = "fault",
                                  .series = series,
                                  .position = 1,
                                  .weight = 1,
                                  .selected = selected};
    ok(store_add_candidate(scene->store, &row));
}

static struct error *keep(void *data, struct trial_job *job, const struct candidate *candidate,
                          struct engine_result *result)
{
    struct scene *scene = data;
    if (candidate != NULL) {
        struct store_candidate row = {.campaign = scene->campaign.id,
                                      .number = job->candidate_number,
                                      .spec = candidate->spec,
                                      .type = candidate->type,
                                      .series = candidate->series,
                                      .position = candidate->position,
                                      .weight = 1,
                                      .selected = true};
        TRY(store_add_candidate(scene->store, &row));
        job->candidate = row.id;
    }
    assert_true(scene->kept_count < 4000);
    scene->kept[scene->kept_count++] = job->number;
    struct store_trial row = {.campaign = scene->campaign.id,
                              .candidate = job->candidate,
                              .number = job->number,
                              .seed = job->seed,
                              .spec = job->spec,
                              .verdict = result->judgement.verdict,
                              .reason = "",
                              .outcome = STORE_OUTCOME_EXIT,
                              .activations = result->observation.activations};
    return store_add_trial(scene->store, &row); // refuses a number that is there already
}

static void finish(struct scene *scene, struct trial_job *job, enum verdict verdict,
                   uint64_t activations)
{
    struct engine_result result = {.judgement.verdict = verdict};
    result.observation.activations = activations;
    ok(schedule_done(scene->schedule, job, &result, keep, scene));
}

static bool take(struct scene *scene, struct trial_job *job)
{
    bool got;
    ok(schedule_next(scene->schedule, &got, job));
    return got;
}

static void test_list(void **state)
{
    struct scene scene;
    scene_open(&scene, SELECT_SAMPLE, 3);
    for (uint64_t i = 1; i <= 40; i++)
        add_candidate(&scene, i, NULL, i % 2 == 0);
    scene_load(&scene);
    assert_int_equal(schedule_planned(scene.schedule), 60);
    struct trial_job job;
    uint64_t order[60], seeds[60];
    size_t count = 0, ascending = 0;
    for (; take(&scene, &job); count++) {
        assert_true(count < 60);
        assert_int_equal(job.candidate_number % 2, 0);
        assert_int_equal((job.number - 1) / 3 + 1, job.candidate_number);
        order[count] = job.number;
        seeds[count] = job.seed;
        ascending += count > 0 && order[count] > order[count - 1];
        trial_job_deinit(&job);
    }
    assert_int_equal(count, 60);
    assert_in_range(ascending, 15, 45); // no order
    // Each candidate once before any of them twice.
    for (size_t i = 0; i < 20; i++)
        assert_int_equal((order[i] - 1) % 3, 0);

    // After a kill, finished trials are not repeated. The rest comes in the same order with the
    // same seeds.
    scene_load(&scene);
    for (size_t i = 0; i < 25; i++) {
        assert_true(take(&scene, &job));
        if (i % 5 != 0)
            finish(&scene, &job, VERDICT_PASS, 1);
        else
            trial_job_deinit(&job);
    }
    scene_load(&scene);
    for (size_t i = 0; i < 60; i++) {
        if (i < 25 && i % 5 != 0)
            continue;
        assert_true(take(&scene, &job));
        assert_int_equal(job.number, order[i]);
        assert_true(job.seed == seeds[i]);
        finish(&scene, &job, VERDICT_PASS, 1);
    }
    assert_false(take(&scene, &job));
    assert_int_equal(scene.kept_count, 60);
    scene_close(&scene);
}

static void test_listed(void **state)
{
    struct scene scene;
    struct trial_job job;
    scene_open(&scene, SELECT_ALL, 1);
    scene.definition.selection.order = ORDER_LISTED;
    for (uint64_t i = 1; i <= 40; i++)
        add_candidate(&scene, i, NULL, true);
    scene_load(&scene);
    for (uint64_t i = 1; i <= 40; i++) {
        if (i == 20) // killed
            scene_load(&scene);
        assert_true(take(&scene, &job));
        assert_int_equal(job.candidate_number, i);
        finish(&scene, &job, VERDICT_PASS, 1);
    }
    assert_false(take(&scene, &job));
    scene_close(&scene);
}

// A program that reaches so many positions. `jobs` trials run at once, and results arrive in random
// order.
static void run_sweep(struct scene *scene, size_t jobs, size_t most)
{
    struct trial_job flights[8];
    size_t flying = 0;
    static unsigned random = 1;
    for (size_t done = 0; done < most; done++) {
        while (flying < jobs && take(scene, &flights[flying]))
            flying++;
        if (flying == 0)
            return;
        random = random * 1103515245 + 12345;
        size_t chosen = random / 65536 % flying;
        struct trial_job job = flights[chosen];
        flights[chosen] = flights[--flying];
        unsigned series, position;
        assert_int_equal(sscanf(job.spec, "s%u@%u", &series, &position), 2);
        bool hit = position <= scene->activated_to[series];
        finish(scene, &job, hit ? VERDICT_GRACEFUL : VERDICT_NOT_ACTIVATED, hit);
    }
    while (flying > 0)
        trial_job_deinit(&flights[--flying]);
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void start_sweep(struct scene *scene, uint64_t repeat)
{
    scene_open(scene, SELECT_SWEEP, repeat);
    add_candidate(scene, 1, "s0", true);
    add_candidate(scene, 2, "s1", true);
    add_candidate(scene, 3, "s2", true);
    scene->activated_to[1] = 5; // the first is not even hit once
    scene->activated_to[2] = 20;
}

static void sweep_with(size_t jobs, uint64_t repeat, size_t killed_after)
{
    struct scene scene;
    start_sweep(&scene, repeat);
    for (int sessions = 0; sessions < 200; sessions++) {
        scene_load(&scene);
        size_t before = scene.kept_count;
        run_sweep(&scene, jobs, killed_after);
        if (killed_after == SIZE_MAX || (scene.kept_count == before && sessions > 50))
            break;
    }
    // One position, six, twenty-one.
    assert_int_equal(scene.kept_count, (1 + 6 + 21) * repeat);
    qsort(scene.kept, scene.kept_count, sizeof *scene.kept, compare);
    size_t at = 0;
    for (uint64_t step = 0; step < 21; step++)
        for (uint64_t series = 0; series < 3; series++)
            for (uint64_t round = 0; round < repeat; round++)
                if (step <= scene.activated_to[series])
                    assert_int_equal(scene.kept[at++], (step * 3 + series) * repeat + round + 1);
    scene_close(&scene);
}

static void test_sweep(void **state)
{
    for (size_t jobs = 1; jobs <= 8; jobs++) {
        sweep_with(jobs, 1, SIZE_MAX);
        sweep_with(jobs, 3, SIZE_MAX);
    }
}

static void test_sweep_killed(void **state)
{
    sweep_with(1, 1, 3);
    sweep_with(2, 1, 5);
    sweep_with(3, 2, 4);
    sweep_with(8, 3, 11);
}

static void test_sweep_most(void **state)
{
    struct scene scene;
    start_sweep(&scene, 1);
    scene.definition.selection.most = 4;
    scene_load(&scene);
    run_sweep(&scene, 4, SIZE_MAX);
    assert_int_equal(scene.kept_count, 1 + 4 + 4);
    scene_load(&scene);
    run_sweep(&scene, 4, SIZE_MAX);
    assert_int_equal(scene.kept_count, 1 + 4 + 4);
    scene_close(&scene);
}

// Trials that cannot be run do not end a series, but many of them in a row do.
static void test_sweep_invalid(void **state)
{
    struct scene scene;
    scene_open(&scene, SELECT_SWEEP, 1);
    add_candidate(&scene, 1, "s0", true);
    scene_load(&scene);
    struct trial_job job;
    for (int i = 0; i < 9; i++) {
        assert_true(take(&scene, &job));
        finish(&scene, &job, VERDICT_INVALID, 0);
    }
    assert_true(take(&scene, &job));
    finish(&scene, &job, VERDICT_PASS, 1);
    for (int i = 0; i < 10; i++) {
        assert_true(take(&scene, &job));
        finish(&scene, &job, VERDICT_INVALID, 0);
    }
    assert_false(take(&scene, &job));
    scene_close(&scene);
}

static void test_cannot_sweep(void **state)
{
    struct scene scene;
    scene_open(&scene, SELECT_SWEEP, 1);
    scene.injector.sweep = NULL;
    const struct schedule_options options = {.definition = &scene.definition,
                                             .injector = &scene.injector,
                                             .store = scene.store,
                                             .campaign = scene.campaign.id};
    struct error *error = schedule_load(&options, &scene.schedule);
    assert_non_null(error);
    assert_string_equal(error_message(error), "the injector 'x' cannot sweep");
    error_free(error);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),         cmocka_unit_test(test_listed),
        cmocka_unit_test(test_sweep),        cmocka_unit_test(test_sweep_killed),
        cmocka_unit_test(test_sweep_most),   cmocka_unit_test(test_sweep_invalid),
        cmocka_unit_test(test_cannot_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
