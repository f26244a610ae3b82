// SPDX-License-Identifier: GPL-3.0-or-later
// Lengths of call instructions, forwards and backwards; copies between registers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/call.h"
#include "isa/copy.h"

static const struct {
    const char *text;
    unsigned char bytes[12];
    size_t size, length;
} cases[] = {
    {"call rel32", {0xe8, 1, 2, 3, 4}, 5, 5},
    {"call [rip+disp]", {0xff, 0x15, 1, 2, 3, 4}, 6, 6},
    {"call rax", {0xff, 0xd0}, 2, 2},
    {"call r11", {0x41, 0xff, 0xd3}, 3, 3},
    {"call [rbx+8]", {0xff, 0x53, 8}, 3, 3},
    {"call [r12+disp32]", {0x41, 0xff, 0x94, 0x24, 1, 2, 3, 4}, 8, 8},
    {"notrack call rax", {0x3e, 0xff, 0xd0}, 3, 3},
    {"data16 rex call rel32", {0x66, 0x48, 0xe8, 1, 2, 3, 4}, 7, 7},
    {"addr32 call rel32", {0x67, 0xe8, 1, 2, 3, 4}, 6, 6},
    {"bnd call rel32", {0xf2, 0xe8, 1, 2, 3, 4}, 6, 6},
    {"jmp rel32", {0xe9, 1, 2, 3, 4}, 5, 0},
    {"ret", {0xc3}, 1, 0},
    {"syscall", {0x0f, 0x05}, 2, 0},
    {"a cut call", {0xe8, 1, 2}, 3, 0},
    {"nothing", {0}, 0, 0},
    {"not an instruction", {0x06}, 1, 0},
};

static void lengths(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (isa_call_length(cases[i].bytes, cases[i].size) != cases[i].length)
            fail_msg("%s: %zu bytes", cases[i].text,
                     isa_call_length(cases[i].bytes, cases[i].size));
}

static void backwards(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned char *end = cases[i].bytes + cases[i].size;
        if (isa_call_ends_at(end, cases[i].size) != (cases[i].length != 0))
            fail_msg("%s", cases[i].text);
    }
    static const unsigned char after_push[] = {0x50, 0xe8, 1, 2, 3, 4, 0x90};
    assert_true(isa_call_ends_at(after_push + 6, 6));
    assert_false(isa_call_ends_at(after_push + 7, 7));
    assert_false(isa_call_ends_at(after_push + 6, 4)); // only part of it may be looked at
}

static void copies(void **state)
{
    enum { RBX = 3, RDI = 5, R14 = 14 };
    static const unsigned char save[] = {0x49, 0x89, 0xfe, 0x31, 0xc0, 0xe8, 1, 2, 3, 4};
    assert_true(isa_holds_copy(save, sizeof save, RDI, R14));
    assert_false(isa_holds_copy(save, sizeof save, RDI, RBX));
    assert_false(isa_holds_copy(save, sizeof save, R14, RDI));
    assert_false(isa_holds_copy(save, sizeof save, RDI, 16));
    assert_false(isa_holds_copy(save, 5, RDI, R14));     // no call
    assert_false(isa_holds_copy(save, 9, RDI, R14));     // a cut one
    assert_false(isa_holds_copy(save + 3, 7, RDI, R14)); // no copy
    // mov ebx, edi; inc edi; call
    static const unsigned char changed[] = {0x89, 0xfb, 0xff, 0xc7, 0xe8, 1, 2, 3, 4};
    assert_false(isa_holds_copy(changed, sizeof changed, RDI, RBX));
    // mov ebx, edi; xor bl, bl; call
    static const unsigned char partly[] = {0x89, 0xfb, 0x30, 0xdb, 0xe8, 1, 2, 3, 4};
    assert_false(isa_holds_copy(partly, sizeof partly, RDI, RBX));
    // mov rbx, rdi; call; call: the first call may have destroyed rdi
    static const unsigned char twice[] = {0x48, 0x89, 0xfb, 0xe8, 1, 2, 3, 4, 0xe8, 1, 2, 3, 4};
    assert_false(isa_holds_copy(twice, sizeof twice, RDI, RBX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths), cmocka_unit_test(backwards),
                                       cmocka_unit_test(copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
