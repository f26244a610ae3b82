// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of job slots: they come back as they were, and no bytes do harm.
#include "engine/slot-message.h"

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

static struct engine_result example(void)
{
    struct engine_result result = {
        .job = {.candidate = -7, .seed = UINT64_MAX, .tag = 3},
        .judgement = {.verdict = VERDICT_HANG,
                      .reason = strdup("why"),
                      .cause = strdup(""),
                      .severity = SEVERITY_HIGH,
                      .symptom = SYMPTOM_LEFT,
                      .by_chance = true,
                      .about = strdup("/f")},
        .end = SANDBOX_TIMEOUT,
        .status = -1,
        .changed = true,
        .seconds = 0.25,
        .stack = strdup("f at a.c:1 (a)\nmain"),
        .round = 7,
    };
    result.observation.activations = 1000;
    result.observation.plan_hash = 42;
    result.observation.crash_signal = 11;
    result.observation.crash_in_command = true;
    result.observation.note = strdup("note");
    struct observed_call *observed = &result.observation.observed;
    *observed = (struct observed_call){
        .began = true, .returned = true, .result = -3, .error = 12, .changed = 2};
    struct inner_call *call = ARRAY_ADD(&observed->calls);
    *call = (struct inner_call){.function = strdup("malloc"),
                                .module = strdup("/lib/a.so"),
                                .offset = 0x99,
                                .first = 3,
                                .count = 4,
                                .order = 5};
    int64_t *value = ARRAY_ADD(&observed->results);
    *value = -3;
    for (int i = 0; i < 2; i++) {
        struct injection *injection = ARRAY_ADD(&result.observation.injections);
        injection->fault = strdup("read=-1/EIO");
        injection->offset = 0x1234;
        injection->occurrence = (uint64_t)i + 1;
        injection->line = 12;
        injection->process = 1;
        injection->signal = 15;
        injection->stream = strdup("save at save.c:3 (victim)");
        injection->standard_stream = 1;
        injection->seconds = 1.5;
    }
    struct deviation *deviation = ARRAY_ADD(&result.judgement.deviations.list);
    assert_non_null(deviation);
    *deviation = (struct deviation){.number = 4, .activated = true, .count = 3, .same_time = true};
    deviation->seconds = 0.5;
    deviation->sentence = strdup("invocation 4: process r (a) does write(x)");
    deviation->calls = strdup("read write");
    ok(buffer_append(&deviation->trace, "packed", 6));
    return result;
}

static void test_job(void **state)
{
    struct buffer text = {0};
    const struct engine_job job = {.candidate = 5, .spec = "read=-1/EIO", .seed = 9, .tag = 1};
    ok(slot_message_put_job(&text, &job, 0));
    size_t size;
    ok(slot_message_size(text.data, text.size, &size));
    assert_int_equal(size, text.size);
    struct slot_job got;
    ok(slot_message_get_job(text.data, text.size, &got));
    assert_int_equal(got.candidate, 5);
    assert_int_equal(got.seed, 9);
    assert_int_equal(got.tag, 1);
    assert_string_equal(got.spec, "read=-1/EIO");
    slot_job_deinit(&got);
    buffer_deinit(&text);
}

static void test_result(void **state)
{
    struct buffer text = {0};
    struct engine_result result = example(), got;
    bool refused;
    ok(slot_message_put_result(&text, &result));
    ok(slot_message_get_result(text.data, text.size, &got, &refused));
    assert_false(refused);
    assert_int_equal(got.job.candidate, -7);
    assert_true(got.job.seed == UINT64_MAX);
    assert_int_equal(got.judgement.verdict, VERDICT_HANG);
    assert_string_equal(got.judgement.reason, "why");
    assert_string_equal(got.judgement.cause, "");
    assert_int_equal(got.judgement.severity, SEVERITY_HIGH);
    assert_int_equal(got.judgement.symptom, SYMPTOM_LEFT);
    assert_true(got.judgement.by_chance);
    assert_int_equal(got.round, 7);
    assert_string_equal(got.judgement.about, "/f");
    assert_int_equal(got.end, SANDBOX_TIMEOUT);
    assert_int_equal(got.status, -1);
    assert_true(got.changed);
    assert_true(got.seconds == 0.25);
    assert_string_equal(got.stack, result.stack);
    assert_null(got.output);
    assert_int_equal(got.observation.activations, 1000);
    assert_int_equal(got.observation.crash_signal, 11);
    assert_true(got.observation.crash_in_command);
    assert_int_equal(got.observation.injections.count, 2);
    assert_string_equal(got.observation.injections.items[1].fault, "read=-1/EIO");
    assert_int_equal(got.observation.injections.items[1].occurrence, 2);
    assert_int_equal(got.observation.injections.items[1].signal, 15);
    assert_null(got.observation.injections.items[1].symbol);
    assert_string_equal(got.observation.injections.items[1].stream, "save at save.c:3 (victim)");
    assert_int_equal(got.observation.injections.items[1].standard_stream, 1);
    const struct observed_call *observed = &got.observation.observed;
    assert_true(observed->began && observed->returned && !observed->lost);
    assert_int_equal(observed->result, -3);
    assert_int_equal(observed->error, 12);
    assert_int_equal(observed->changed, 2);
    assert_int_equal(observed->calls.count, 1);
    assert_string_equal(observed->calls.items[0].function, "malloc");
    assert_null(observed->calls.items[0].symbol);
    assert_int_equal(observed->calls.items[0].order, 5);
    assert_int_equal(observed->results.count, 1);
    assert_int_equal(got.judgement.deviations.list.count, 1);
    const struct deviation *deviation = &got.judgement.deviations.list.items[0];
    assert_true(deviation->number == 4 && deviation->activated && deviation->count == 3);
    assert_true(!deviation->same_status && deviation->same_time && deviation->seconds == 0.5);
    assert_string_equal(deviation->calls, "read write");
    assert_null(deviation->call);
    assert_int_equal(deviation->trace.size, 6);
    engine_result_deinit(&got);
    engine_result_deinit(&result);
    buffer_deinit(&text);
}

static void test_refusal(void **state)
{
    struct buffer text = {0};
    struct engine_result got;
    bool refused;
    ok(slot_message_put_refusal(&text, "no sandbox"));
    struct error *error = slot_message_get_result(text.data, text.size, &got, &refused);
    assert_true(refused);
    assert_string_equal(error_message(error), "no sandbox");
    error_free(error);
    buffer_deinit(&text);
}

static bool is_read(const char *bytes, size_t size)
{
    // An exact copy on the heap: the address sanitizer sees every step beyond it.
    char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    struct engine_result got = {0};
    bool refused;
    struct error *error = slot_message_get_result(copy, size, &got, &refused);
    free(copy);
    if (error == NULL)
        engine_result_deinit(&got);
    bool read = error == NULL;
    error_free(error);
    return read;
}

static void test_damage(void **state)
{
    struct buffer text = {0};
    struct engine_result result = example();
    ok(slot_message_put_result(&text, &result));
    for (size_t i = 0; i < text.size; i++)
        assert_false(is_read(text.data, i));
    assert_true(is_read(text.data, text.size));
    // Any byte may be anything; what is accepted is within bounds.
    for (size_t i = 0; i < text.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            text.data[i] ^= (char)(1 << bit);
            is_read(text.data, text.size);
            text.data[i] ^= (char)(1 << bit);
        }
    uint32_t verdict = VERDICTS;
    memcpy(text.data + 8 + 24, &verdict, sizeof verdict);
    assert_false(is_read(text.data, text.size));
    engine_result_deinit(&result);
    buffer_deinit(&text);
}

static void test_sizes(void **state)
{
    size_t size;
    uint32_t number = 0;
    ok(slot_message_size("\1\2\3", 3, &size));
    assert_int_equal(size, 0);
    struct error *error = slot_message_size(&number, sizeof number, &size);
    assert_non_null(error);
    error_free(error);
    number = UINT32_MAX;
    error = slot_message_size(&number, sizeof number, &size);
    assert_non_null(error);
    error_free(error);
}

// A trial whose stacks are too long is not the end of the campaign.
static void test_long_stacks(void **state)
{
    struct buffer text = {0};
    struct engine_result result = example(), got;
    size_t size = SLOT_MESSAGE_SIZE / 10;
    for (int i = 0; i < 20; i++) {
        struct injection *injection = ARRAY_ADD(&result.observation.injections);
        injection->stack = calloc(1, size + 1);
        memset(injection->stack, 'x', size);
    }
    bool refused;
    ok(slot_message_put_result(&text, &result));
    ok(slot_message_get_result(text.data, text.size, &got, &refused));
    assert_int_equal(got.observation.injections.count, 2 + 5);
    assert_int_equal(got.observation.activations, 1000);
    engine_result_deinit(&got);
    engine_result_deinit(&result);
    buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job),         cmocka_unit_test(test_result),
        cmocka_unit_test(test_long_stacks), cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_damage),      cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
