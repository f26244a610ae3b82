// SPDX-License-Identifier: GPL-3.0-or-later
// Which trials are forked, how many at once, when that is given up, and what counts as the same
// result.
#include "base/cleanup.h"
#include "engine/fork-batch.h"
#include "engine/fork-policy.h"
#include "scenario/scenario.h"
#include "trial/forking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static bool suits(const char *spec)
{
    struct scenario *scenario;
    struct buffer plan = {0};
    ok(scenario_new(&scenario));
    ok(scenario_add_spec(scenario, spec));
    ok(scenario_compile(scenario, 1, &plan));
    bool result = forking_suits((const struct wire_plan *)(const void *)plan.data, 0);
    assert_false(forking_suits((const struct wire_plan *)(const void *)plan.data, 1));
    buffer_deinit(&plan);
    scenario_free(scenario);
    return result;
}

static void test_suits(void **state)
{
    assert_true(suits("read=-1/EIO"));
    assert_true(suits("read=-1/EIO when process(1) and count == 7 and once"));
    assert_true(suits("read=-1/EIO when caller(/bin/true+0x1234) and arg(1) > 2"));
    assert_false(suits("read=-1/EIO when random(0.5)"));
    assert_false(suits("read=-1/EIO when count == 3 and new_stack"));
    assert_false(suits("read=-1/EIO when after(open)"));
    assert_false(suits("read=-1/EIO when time > 1s"));
    assert_false(suits("read=-1/EIO when holding_mutex"));
    assert_false(suits("read=-1/EIO when remote(x)"));
    assert_false(suits("read watch"));
}

static void test_agrees(void **state)
{
    char key[] = "main (a)", other[] = "f (a)", cause[] = "crash in main", cause2[] = "crash in f";
    const struct engine_result crash = {
        .judgement = {.verdict = VERDICT_CRASH, .cause = cause},
        .observation = {.activations = 1, .crash_key = key},
        .end = SANDBOX_SIGNAL,
        .status = 11,
        .seconds = 0.5,
    };
    struct engine_result full = crash;
    full.seconds = 2;
    full.observation.activations = 3;
    assert_true(fork_batch_agrees(&crash, &full));
    full = crash, full.judgement.verdict = VERDICT_HANG;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.status = 6;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.end = SANDBOX_EXIT;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.observation.activations = 0;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.observation.crash_key = other;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.observation.crash_key = NULL;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.judgement.cause = cause2;
    assert_false(fork_batch_agrees(&crash, &full));
    full = crash, full.changed = true;
    assert_false(fork_batch_agrees(&crash, &full));
}

// A tenth, whatever the seeds look like.
static void test_checks(void **state)
{
    unsigned count = 0;
    for (uint64_t seed = 0; seed < 10000; seed++)
        count += fork_batch_checks(seed * 2654435761u & UINT32_MAX);
    assert_in_range(count, 900, 1100);
}

static void test_lots(void **state)
{
    struct fork_policy policy = {.on = true, .most = FORK_BATCH_MOST};
    assert_int_equal(fork_policy_lot(&policy, 0, 2), FORK_BATCH_MOST);
    assert_int_equal(fork_policy_lot(&policy, 100000, 2), FORK_BATCH_MOST);
    assert_int_equal(fork_policy_lot(&policy, 100, 2), 34);
    assert_int_equal(fork_policy_lot(&policy, 1, 2), 16);
    policy.most = 40; // trials take longer
    assert_int_equal(fork_policy_lot(&policy, 100, 2), 34);
    assert_int_equal(fork_policy_lot(&policy, 1, 2), 5);
    policy.most = FORK_BATCH_LEAST;
    assert_int_equal(fork_policy_lot(&policy, 1, 2), FORK_BATCH_LEAST);
    policy.on = false;
    assert_int_equal(fork_policy_lot(&policy, 1000, 2), 1);
}

static bool note(struct fork_policy *policy, enum trial_way way)
{
    const struct engine_result result = {.way = way, .refusal = WIRE_FORK_OK};
    return fork_policy_note(policy, &result);
}

// For what the workload is, forking is given up sooner than for what its faults make it do.
static void test_unsuitable(void **state)
{
    struct fork_policy policy = {.on = true, .most = FORK_BATCH_MOST};
    const struct engine_result result = {.way = WAY_REFUSED, .refusal = WIRE_FORK_THREADS};
    for (int i = 0; i < 3; i++)
        assert_false(fork_policy_note(&policy, &result));
    assert_true(fork_policy_note(&policy, &result));
    assert_string_equal(policy.why, "has several threads");
}

static void test_giving_up(void **state)
{
    struct fork_policy policy = {.on = true, .most = FORK_BATCH_MOST};
    for (int i = 0; i < 15; i++)
        assert_false(note(&policy, WAY_REFUSED));
    assert_true(note(&policy, WAY_REFUSED));
    assert_false(policy.on);
    assert_string_equal(policy.why, "does more than read files and write to its standard output");
    assert_false(note(&policy, WAY_REFUSED)); // said once

    policy = (struct fork_policy){.on = true};
    for (int i = 0; i < 100; i++)
        assert_false(note(&policy, i % 3 == 0   ? WAY_CHECKED
                                   : i % 3 == 1 ? WAY_FORKED
                                                : WAY_REFUSED));
    assert_true(policy.on);
    assert_true(note(&policy, WAY_DISPUTED));
    assert_false(policy.on);

    policy = (struct fork_policy){.on = true, .wanted = true};
    for (int i = 0; i < 100; i++)
        assert_false(note(&policy, WAY_REFUSED));
    assert_true(policy.on);
    assert_true(note(&policy, WAY_DISPUTED)); // even so
}

static void test_reasons(void **state)
{
    for (unsigned i = 0; i < WIRE_FORK_REFUSALS; i++)
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(fork_policy_refusal(i), fork_policy_refusal(j));
    assert_non_null(fork_policy_refusal(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suits),      cmocka_unit_test(test_agrees),
        cmocka_unit_test(test_checks),     cmocka_unit_test(test_lots),
        cmocka_unit_test(test_unsuitable), cmocka_unit_test(test_giving_up),
        cmocka_unit_test(test_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
