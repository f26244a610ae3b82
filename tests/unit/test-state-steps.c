// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a fault in a register, by the instructions that come after it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "state/steps.h"

#define MOST 4

struct row {
    uint32_t class, number;
    uint64_t faulty; // bits
    const char *code[MOST];
    uint32_t activation;
    uint64_t steps;
    uint64_t call;
};

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP };
#define BITS(lower, upper) ((uint64_t)(upper) << 32 | (lower))

static const struct row rows[] = {
    // mov eax, [rbx]; add ecx, eax
    {0, RBX, 4, {"\x8b\x03"}, WIRE_STATE_ACTIVATED, 1, 0},
    {0, RAX, 4, {"\x8b\x03"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {0, RAX, BITS(0, 4), {"\x8b\x03"}, WIRE_STATE_OVERWRITTEN, 1, 0}, // zero-extended
    {0, RAX, 4, {"\x01\xc1", "\x8b\x03"}, WIRE_STATE_ACTIVATED, 1, 0},
    {0, RAX, BITS(0, 4), {"\x01\xc1", "\x8b\x03"}, WIRE_STATE_OVERWRITTEN, 2, 0}, // lower half is
                                                                                  // read
    // mov al, 1: the rest stays
    {0, RAX, 4, {"\xb0\x01", "\x01\xc1"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {0, RAX, 0x104, {"\xb0\x01", "\x01\xc1"}, WIRE_STATE_ACTIVATED, 2, 0},
    {0, RAX, 0x104, {"\xb0\x01", "\xb4\x01"}, WIRE_STATE_OVERWRITTEN, 2, 0}, // mov ah, 1
    // xor eax, eax reads nothing; nop; the steps end
    {0, RAX, 4, {"\x31\xc0"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {0, RAX, 4, {"\x90", "\x90"}, WIRE_STATE_UNKNOWN, 2, 0},
    // cmove eax, ecx: perhaps
    {0, RAX, 4, {"\x0f\x44\xc1", "\x31\xc0"}, WIRE_STATE_UNKNOWN, 1, 0},
    // syscall: the number is read, arguments perhaps, rbx never; rcx and the upper half of rax are
    // lost
    {0, RAX, 4, {"\x0f\x05"}, WIRE_STATE_ACTIVATED, 1, 0},
    {0, RAX, BITS(0, 4), {"\x0f\x05"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {0, RDI, 4, {"\x0f\x05", "\x31\xff"}, WIRE_STATE_UNKNOWN, 1, 0},
    {0, RCX, 4, {"\x0f\x05"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {0, RBX, 4, {"\x0f\x05", "\x8b\x03"}, WIRE_STATE_ACTIVATED, 2, 0},
    // The end of a handler brings all registers back, by the stack pointer.
    {0, RBX, 4, {"\x0f\x05", "\x8b\x03"}, WIRE_STATE_OVERWRITTEN, 1, 15},
    {0, RDI, 4, {"\x0f\x05"}, WIRE_STATE_OVERWRITTEN, 1, 15},
    {0, RSP, 8, {"\x0f\x05"}, WIRE_STATE_ACTIVATED, 1, 15},
    {WIRE_STATE_FLAGS, 0, 1 << 6, {"\x0f\x05", "\x74\x00"}, WIRE_STATE_OVERWRITTEN, 1, 15},
    // Flags: cmp eax, ecx; je; jb; shl eax, cl
    {WIRE_STATE_FLAGS, 0, 1 << 6, {"\x39\xc8", "\x74\x00"}, WIRE_STATE_OVERWRITTEN, 1, 0},
    {WIRE_STATE_FLAGS, 0, 1 << 6, {"\x74\x00", "\x39\xc8"}, WIRE_STATE_ACTIVATED, 1, 0},
    {WIRE_STATE_FLAGS, 0, 1 << 6, {"\x72\x00", "\x39\xc8"}, WIRE_STATE_OVERWRITTEN, 2, 0},
    {WIRE_STATE_FLAGS, 0, 1 << 6, {"\xd3\xe0", "\x39\xc8"}, WIRE_STATE_UNKNOWN, 1, 0},
    // What is no instruction.
    {0, RAX, 4, {"\x06", "\x31\xc0"}, WIRE_STATE_UNKNOWN, 1, 0},
    {0, RAX, 4, {NULL}, WIRE_STATE_UNKNOWN, 0, 0},
};

static void instructions_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        struct wire_state_step steps[MOST] = {0};
        struct wire_state_result result = {.injected = 1};
        const struct wire_state_fault fault = {.register_class = row->class,
                                               .register_number = row->number};
        memcpy(result.after, &row->faulty, sizeof row->faulty);
        for (; result.steps < MOST && row->code[result.steps] != NULL; result.steps++) {
            struct wire_state_step *step = &steps[result.steps];
            step->time_ns = 100 + result.steps;
            step->call = row->call;
            memcpy(step->code, row->code[result.steps], strlen(row->code[result.steps]));
        }
        state_steps_judge(&fault, steps, MOST, &result);
        if (result.activation != row->activation || result.steps != row->steps)
            fail_msg("row %zu: activation %u, %llu steps", i, result.activation,
                     (unsigned long long)result.steps);
        assert_int_equal(result.activated_ns,
                         row->activation != WIRE_STATE_UNKNOWN ? 99 + row->steps : 0);
    }
}

// A damaged file must not lead beyond its end.
static void more_steps_than_room(void **state)
{
    (void)state;
    const struct wire_state_fault fault = {.size = 8};
    const struct wire_state_step step = {.code = {0x90}};
    struct wire_state_result result = {.after = {4}, .steps = UINT64_MAX};
    state_steps_judge(&fault, &step, 1, &result);
    assert_int_equal(result.steps, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_decide),
                                       cmocka_unit_test(more_steps_than_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
