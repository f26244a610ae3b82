// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual process numbers: the same for a name in every run, different for different names, there
// and back; and packed traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/map.h"
#include "observe/process-numbers.h"
#include "observe/trace.h"

#include <stdio.h>
#include <string.h>

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void numbers_spell_names(void **state)
{
    assert_int_equal(process_number_of_name("r"), 0x20000000);
    assert_int_equal(process_number_of_name("r.1"), 0x20000001);
    assert_int_equal(process_number_of_name("r.1.2"), 0x20000012);
    assert_int_equal(process_number_of_name("r.7"), 0x20000007);
    assert_int_equal(process_number_of_name("r.8"), 0x20000090);
    assert_int_equal(process_number_of_name("r.9"), 0x20000091);
    assert_int_equal(process_number_of_name("r.64.1"), 0x20009801);
    assert_int_equal(process_number_of_name("r.1.1.1.1.1.1.1"), 0x21111111);
    // Eight digits do not fit.
    assert_true(process_number_of_name("r.1.1.1.1.1.1.1.1") >= 0x30000000);
    assert_true(process_number_of_name("r.999999999") >= 0x30000000);
}

static void names_have_different_numbers(void **state)
{
    struct map seen = {0};
    char name[32];
    bool fresh;
    for (unsigned i = 1; i <= 300; i++)
        for (unsigned j = 0; j <= 20; j++) {
            snprintf(name, sizeof name, j != 0 ? "r.%u.%u" : "r.%u", i, j);
            uint32_t number = process_number_of_name(name);
            must(map_add(&seen, number, &fresh));
            if (!fresh)
                fail_msg("%s has the number of another", name);
            assert_true(number >= PROCESS_NUMBER_BIT && number < 0x30000000);
        }
    map_deinit(&seen);
}

static void numbers_lead_back(void **state)
{
    struct process_numbers numbers = {.starter = 10, .group = 20, .session = 30};
    must(process_numbers_add(&numbers, 100, "r"));
    must(process_numbers_add(&numbers, 101, "r.1"));
    assert_int_equal(process_numbers_shown(&numbers, 101), 0x20000001);
    assert_int_equal(process_numbers_real(&numbers, 0x20000001), 101);
    assert_int_equal(process_numbers_real(&numbers, -0x20000001), -101);
    assert_string_equal(process_numbers_name(&numbers, 0x20000001), "r.1");
    assert_null(process_numbers_name(&numbers, 101));
    // Others stay as they are.
    assert_int_equal(process_numbers_shown(&numbers, 7), 7);
    assert_int_equal(process_numbers_real(&numbers, 7), 7);
    assert_int_equal(process_numbers_real(&numbers, 0), 0);
    assert_int_equal(process_numbers_real(&numbers, -1), -1);
    assert_int_equal(process_numbers_real(&numbers, INT32_MIN), INT32_MIN);
    assert_int_equal(process_numbers_real(&numbers, 0x20000099), 0x20000099);
    // Those around the command have numbers of their own.
    assert_int_equal(process_numbers_real(&numbers, process_numbers_shown_parent(&numbers, 10)),
                     10);
    assert_int_equal(process_numbers_real(&numbers, process_numbers_shown_group(&numbers, 20)), 20);
    assert_int_equal(process_numbers_real(&numbers, process_numbers_shown_session(&numbers, 30)),
                     30);
    assert_int_equal(process_numbers_shown_parent(&numbers, 99), 1); // an orphan's
    assert_int_equal(process_numbers_shown_parent(&numbers, 100), 0x20000000);
    // A number that the kernel gives out again belongs to the new task.
    must(process_numbers_add(&numbers, 101, "r.2"));
    assert_int_equal(process_numbers_shown(&numbers, 101), 0x20000002);
    process_numbers_deinit(&numbers);
}

static void traces_are_packed_and_unpacked(void **state)
{
    struct buffer text = {0}, packed = {0}, again = {0};
    for (int i = 0; i < 1000; i++)
        must(buffer_printf(&text, "  write(<x>, %d bytes)\n", i % 10));
    must(trace_pack(text.data, text.size, &packed));
    assert_true(packed.size < text.size / 10);
    must(trace_unpack(packed.data, packed.size, &again));
    assert_int_equal(again.size, text.size);
    assert_memory_equal(again.data, text.data, text.size);
    // Damage is told.
    for (size_t size = 0; size < packed.size; size += 5) {
        struct buffer nothing = {0};
        struct error *error = trace_unpack(packed.data, size, &nothing);
        assert_non_null(error);
        error_free(error);
        assert_int_equal(nothing.size, 0);
    }
    memset(packed.data, 0xff, 8); // a size that cannot be
    struct error *error = trace_unpack(packed.data, packed.size, &again);
    assert_non_null(error);
    error_free(error);
    buffer_deinit(&text);
    buffer_deinit(&packed);
    buffer_deinit(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_spell_names),
        cmocka_unit_test(names_have_different_numbers),
        cmocka_unit_test(numbers_lead_back),
        cmocka_unit_test(traces_are_packed_and_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
