// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's answers to targets: this test plays the target.
#include "trial-help.h"

#include "trial/resolver.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

static void wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); // as a target does: one sleeper
}

// Waits until *word leaves `value`; what it is then, or `value` after ten seconds.
static uint32_t await(uint32_t *word, uint32_t value)
{
    for (int i = 0; i < 100 && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; i++)
        syscall(SYS_futex, word, FUTEX_WAIT, value, &(struct timespec){.tv_nsec = 100000000}, NULL,
                0);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

struct fixture {
    struct scenario *scenario;
    struct region region;
    struct resolver *resolver;
};

static void start(struct fixture *fixture, const char *spec)
{
    must(scenario_new(&fixture->scenario));
    must(scenario_add_spec(fixture->scenario, spec));
    struct buffer plan = {0};
    must(scenario_compile(fixture->scenario, 1, &plan));
    char *command[] = {(char *)"victim", NULL};
    struct region_options options = {
        .plan = plan.data, .plan_size = plan.size, .preload = "", .command = command};
    must(region_create(&options, &fixture->region));
    buffer_deinit(&plan);
    assert_true(resolver_needed(region_plan(&fixture->region)));
    struct resolver_options answers = {.region = &fixture->region, .scenario = fixture->scenario};
    must(resolver_start(&answers, &fixture->resolver));
}

static void stop(struct fixture *fixture)
{
    resolver_free(fixture->resolver);
    region_close(&fixture->region);
    scenario_free(fixture->scenario);
}

static uint32_t ask_module(struct fixture *fixture, uint32_t index, const char *path)
{
    struct wire_region *map = fixture->region.map;
    struct wire_module *module = (struct wire_module *)((char *)map + map->modules) + index;
    strcpy(module->path, path);
    __atomic_store_n(&module->state, WIRE_MODULE_WANTED, __ATOMIC_RELEASE);
    __atomic_add_fetch(&map->requests, 1, __ATOMIC_RELEASE);
    wake(&map->requests);
    return await(&module->state, WIRE_MODULE_WANTED);
}

static void modules_are_resolved(void **state)
{
    struct fixture fixture;
    start(&fixture, "read=-1 when caller(modules_are_resolved)");
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_int_equal(ask_module(&fixture, 3, self), WIRE_MODULE_RESOLVED);
    const struct wire_region *map = fixture.region.map;
    const struct wire_module *module =
        (const struct wire_module *)((const char *)map + map->modules) + 3;
    assert_true(module->resolution >= map->arena);
    const struct wire_resolution *resolution =
        (const struct wire_resolution *)((const char *)map + module->resolution);
    assert_true(resolution->range_count >= 1);
    const struct wire_range *range = (const struct wire_range *)(resolution + 1);
    assert_true(range->query == 0 && range->lo < range->hi);
    assert_int_equal(ask_module(&fixture, 4, "/nonexistent/module.so"), WIRE_MODULE_FAILED);
    stop(&fixture);
}

// Both threads sleep on one word, and a target wakes only one of them.
static void questions_reach_the_right_thread(void **state)
{
    struct fixture fixture;
    start(&fixture, "read=-1 when caller(main) and remote(disk)");
    struct wire_region *map = fixture.region.map;
    struct wire_remote *remote = (struct wire_remote *)((char *)map + map->remotes);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < 20; i++) {
        remote->answer = 99;
        __atomic_store_n(&remote->state, WIRE_REMOTE_ASKED, __ATOMIC_RELEASE);
        __atomic_add_fetch(&map->requests, 1, __ATOMIC_RELEASE);
        wake(&map->requests);
        assert_int_equal(await(&remote->state, WIRE_REMOTE_ASKED), WIRE_REMOTE_ANSWERED);
        assert_int_equal(remote->answer, WIRE_REMOTE_UNREACHABLE);
        assert_int_equal(ask_module(&fixture, 5, "/nonexistent/module.so"), WIRE_MODULE_FAILED);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - begin.tv_sec <= 2); // no question waited for a time-out
    stop(&fixture);
}

static void a_plain_plan_needs_no_threads(void **state)
{
    struct buffer plan = compile_specs((const char *const[]){"read=-1 when count == 3", NULL});
    assert_false(resolver_needed((const struct wire_plan *)plan.data));
    buffer_deinit(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_resolved),
        cmocka_unit_test(questions_reach_the_right_thread),
        cmocka_unit_test(a_plain_plan_needs_no_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
