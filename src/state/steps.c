// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through the steps (wire/state.h) with the bits that are faulty: the first instruction that
// reads one has activated the fault. When the last one is overwritten before, nothing ever will.
#include "state/steps.h"

#include "isa/operands.h"

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#define STACK 7 // rsp

struct fate {
    bool flags;      // otherwise a general register
    unsigned number; // of that
    uint64_t left;   // faulty bits
    enum wire_state_activation activation;
    bool decided; // also if what became of it cannot be known
};

static uint64_t bits_of(unsigned first, unsigned count)
{
    return (count >= 64 ? UINT64_MAX : (1ull << count) - 1) << first;
}

// The end of a signal's handler: all registers become what they were before it.
static void leave_handler(struct fate *fate)
{
    fate->left = 0;
    if (!fate->flags && fate->number == STACK) {
        fate->activation = WIRE_STATE_ACTIVATED; // it says where they are
        fate->decided = true;
    }
}

// rdi, rsi, rdx, r10, r8, r9: which of them a call reads depends on the call. rcx and r11 are lost.
static void enter_kernel(uint64_t call, struct fate *fate)
{
    static const unsigned char arguments[] = {5, 4, 1, 10, 8, 9};
    if (call == SYS_rt_sigreturn) {
        leave_handler(fate);
        return;
    }
    if (!fate->flags && memchr(arguments, (int)fate->number, sizeof arguments) != NULL)
        fate->decided = true;
    if (!fate->flags && (fate->number == 0 || fate->number == 2 || fate->number == 11))
        fate->left = 0;
}

static void read_by(const struct isa_reads *reads, struct fate *fate)
{
    for (size_t i = 0; i < reads->count && !fate->decided; i++) {
        const struct isa_read *read = &reads->items[i];
        bool is = fate->flags ? read->kind == ISA_READ_FLAGS && (read->flags & fate->left) != 0
                              : read->kind == ISA_READ_GENERAL && read->number == fate->number &&
                                    (bits_of(read->first_bit, read->bits) & fate->left) != 0;
        if (is) {
            fate->activation = WIRE_STATE_ACTIVATED;
            fate->decided = true;
        }
    }
}

static void overwritten_by(const struct isa_reads *reads, struct fate *fate)
{
    if (fate->flags && (reads->flags_written & fate->left) != 0) {
        fate->decided |= reads->flags_may_stay;
        fate->left &= ~(uint64_t)reads->flags_written;
    }
    for (size_t i = 0; !fate->flags && i < reads->change_count; i++) {
        const struct isa_change *change = &reads->changes[i];
        uint64_t bits = bits_of(change->first_bit, change->bits);
        if (change->number != fate->number || (bits & fate->left) == 0)
            continue;
        fate->decided |= !change->always;
        fate->left &= ~bits;
    }
}

static void take_step(const struct isa_decoder *decoder, const struct wire_state_step *step,
                      struct fate *fate)
{
    struct isa_reads reads;
    if (!isa_reads(decoder, step->code, sizeof step->code, step->address, &reads)) {
        fate->decided = true;
        return;
    }
    read_by(&reads, fate);
    if (!fate->decided && reads.system_call)
        enter_kernel(step->call, fate);
    if (!fate->decided)
        overwritten_by(&reads, fate);
    if (!fate->decided && fate->left == 0) {
        fate->activation = WIRE_STATE_OVERWRITTEN;
        fate->decided = true;
    }
}

void state_steps_judge(const struct wire_state_fault *fault, const struct wire_state_step *steps,
                       uint64_t room, struct wire_state_result *result)
{
    uint64_t before, after, count = result->steps < room ? result->steps : room;
    struct isa_decoder decoder;
    memcpy(&before, result->before, sizeof before);
    memcpy(&after, result->after, sizeof after);
    struct fate fate = {.flags = fault->register_class == WIRE_STATE_FLAGS,
                        .number = fault->register_number,
                        .left = before ^ after,
                        .activation = WIRE_STATE_UNKNOWN};
    isa_decoder_init(&decoder);
    result->steps = 0;
    while (result->steps < count && !fate.decided)
        take_step(&decoder, &steps[result->steps++], &fate);
    result->activation = (uint32_t)fate.activation;
    if (fate.activation != WIRE_STATE_UNKNOWN)
        result->activated_ns = steps[result->steps - 1].time_ns;
}
