// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of faults in registers and memory: they are written as they are read, and what they do to a
// value; errors point at their place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "state/fault.h"

static const char *const texts[] = {
    "register rax flip 3 at save.c:22 when count == 2",
    "register rax flip 3 at main",
    "register r15 flip 0..63 at main+0x10",
    "register flags flip cf,zf,of at 0x1139",
    "register rip zero at main permanent",
    "register zmm31 flip 1,5..9,511 at main",
    "register st7 set 79 at main permanent when count == 18446744073709551615",
    "register k3 set at main",
    "register mxcsr value 0x1f80 at main",
    "register ymm2 value 0x123456789abcdef0123456789abcdef at main",
    "memory total flip 5 at main+0x10",
    "memory total+0x4:4 zero at main",
    "memory total-0x8 set 0..7 at main",
    "memory [rsp]:1 flip 7 at main",
    "memory [rbp-0x14]:4 value 0x7 at main",
    "memory [rax+rcx*8+0x10]:8 flip 63 at main",
    "memory 0x404010:2 zero at /a/c.c:7",
    "memory program+0x4010:8 flip 0 at std::sort+0x2",
    "register rdx flip 3 at libc.so.6:write",
    "register rdx flip 3 at main when thread(2)",
    "register rdx flip 3 at main when input(12)",
    "memory total flip 3 at main when count == 3 and thread(2) and input(1)",
    "register rdx flip 3 at main permanent when count == 7 and thread(4294967295)",
    "register rdx flip 3 at libc.so.6+0x1234 permanent",
    "register rdx flip 3 at ./plug:std::sort+0x2",
    "register rdx flip 3 at /a/libx.so:save.c:22",
    "register rdx flip 3 after 12ms",
    "register xmm3 zero after 1500us",
    "memory [rsp+0x8]:4 set 1..3 after 1234567ns when input(2)",
};

static struct error *read_text(const char *text, struct state_fault *fault)
{
    const struct source source = source_whole("text", text, strlen(text));
    return state_fault_parse(&source, fault);
}

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("unexpected error: %s", error_message(error));
}

static void texts_repeat_exactly(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct state_fault fault = {0};
        _cleanup_(buffer_deinit) struct buffer written = {0};
        must(read_text(texts[i], &fault));
        must(state_fault_format(&fault, &written));
        assert_string_equal(written.data, texts[i]);
        state_fault_deinit(&fault);
    }
}

static void other_spellings(void **state)
{
    static const struct {
        const char *read, *written;
    } cases[] = {
        {"  register   rax\tflip 3,4,5 at main+16 when count==1 ",
         "register rax flip 3..5 at main+0x10"},
        {"register flags flip 6 at main", "register flags flip zf at main"},
        {"register rax value 255 at main", "register rax value 0xff at main"},
        {"register rax flip 3 at main when thread ( 2 ) and count == 3",
         "register rax flip 3 at main when count == 3 and thread(2)"},
        {"register rdx flip 3  after 12000us", "register rdx flip 3 after 12ms"},
        {"memory [ rsp + 8 ]:4 zero at main", "memory [rsp+0x8]:4 zero at main"},
        {"memory [rax+rcx] zero at main", "memory [rax+rcx*1] zero at main"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct state_fault fault = {0};
        _cleanup_(buffer_deinit) struct buffer written = {0};
        must(read_text(cases[i].read, &fault));
        must(state_fault_format(&fault, &written));
        assert_string_equal(written.data, cases[i].written);
        state_fault_deinit(&fault);
    }
}

static void errors_point_at_the_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "text:1:1: expected 'register' or 'memory'\n    \n    ^"},
        {"register",
         "text:1:9: expected a register, such as rax, flags or xmm0\n    register\n            ^"},
        {"register rax flip",
         "text:1:18: expected a bit\n    register rax flip\n                     ^"},
        {"register rax flip 3 at",
         "text:1:23: expected FILE:LINE, FUNCTION+OFFSET or 0xADDRESS\n    register rax flip 3 at\n"
         "                          ^"},
        {"memory [rsp zero at main",
         "text:1:13: expected ']', found 'zero'\n    memory [rsp zero at main\n                ^"},
        {"memory x:65 zero at main",
         "text:1:10: expected 1 to 64 bytes\n    memory x:65 zero at main\n             ^"},
        {"register rax flip 3 at main when count == 2 3",
         "text:1:45: expected the end, found '3'\n    register rax flip 3 at main when count == 2 "
         "3\n"
         "                                                ^"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct state_fault fault = {0};
        struct error *error = read_text(cases[i].text, &fault);
        if (error == NULL)
            fail_msg("no error: %s", cases[i].text);
        assert_string_equal(error_message(error), cases[i].message);
        error_free(error);
    }
}

// Whatever the text is cut to, it is read or refused.
static void cut_texts(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            const struct source source = source_whole("text", texts[i], size);
            struct state_fault fault = {0};
            error_free(state_fault_parse(&source, &fault));
            state_fault_deinit(&fault);
        }
}

static void functions_of_these_names(void **state)
{
    assert_true(state_fault_is("register rax flip 3 at main"));
    assert_true(state_fault_is(" memory x flip 3 at main"));
    assert_false(state_fault_is("register=5"));
    assert_false(state_fault_is("register = 5"));
    assert_false(state_fault_is("register_client=-1"));
    assert_false(state_fault_is("memory_open=NULL when count == 1"));
}

static void registers(void **state)
{
    const struct state_register *each = NULL;
    size_t count = 0;
    while ((each = state_register_next(each)) != NULL) {
        assert_ptr_equal(state_register_find(each->name, strlen(each->name)), each);
        assert_true(each->size <= WIRE_STATE_BYTES);
        count++;
    }
    assert_int_equal(count, 16 + 1 + 16 + 2 + 8 + 8 + 16 + 32);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(state_register_general(i)->number, i);
    assert_string_equal(state_register_general(7)->name, "rsp");
    assert_string_equal(state_register_vector(15)->name, "xmm15");
    assert_string_equal(state_register_flags()->name, "flags");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_repeat_exactly),      cmocka_unit_test(other_spellings),
        cmocka_unit_test(errors_point_at_the_place), cmocka_unit_test(cut_texts),
        cmocka_unit_test(functions_of_these_names),  cmocka_unit_test(registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
