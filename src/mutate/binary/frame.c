// SPDX-License-Identifier: GPL-3.0-or-later
// The beginning and the ends of a function, which the compiler adds to what the programmer wrote: a
// frame is made, parameters are stored in it, registers are restored.
#include "mutate/binary/internal.h"

#define GUARD 0x28 // where the thread's storage has the stack guard's value

static bool is_guard(const struct isa_insn *insn)
{
    return (insn->flags & ISA_THREAD) != 0 && insn->displacement == GUARD;
}

// Which parameter a register has, from 1; 0 if it is none.
static uint8_t number_of(uint64_t reads)
{
    static const uint8_t registers[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
    for (uint8_t i = 0; i < sizeof registers; i++)
        if (reads == ISA_USE_GENERAL(registers[i]))
            return i + 1;
    return 0;
}

// The parameters' registers are stored in the frame first.
static uint32_t find_parameters(struct body *body, uint32_t at, uint32_t end)
{
    // rdi rsi rdx rcx r8 r9, rax for variable arguments, vector registers
    uint64_t passed = ISA_USE_GENERAL(5) | ISA_USE_GENERAL(4) | ISA_USE_GENERAL(1) |
                      ISA_USE_GENERAL(2) | ISA_USE_GENERAL(8) | ISA_USE_GENERAL(9) |
                      ISA_USE_GENERAL(0) | 0xffull << 16;
    uint32_t last = at;
    for (; at < end; at++) {
        const struct isa_insn *insn = insn_at(body, at);
        const struct isa_use *use = use_at(body, at);
        bool frame = (insn->flags & ISA_MEMORY) != 0 && insn->base == ISA_FRAME;
        uint64_t reads = use->reads & ~NOT_TEMPORARY;
        if (insn->kind == ISA_COPY && (reads & passed) != 0) {
            passed |= use->writes; // a narrow parameter
        } else if (insn_is_store(insn) || (insn->kind == ISA_OTHER && frame && use->writes == 0)) {
            if (!frame || (reads & passed) == 0 || (reads & ~passed) != 0)
                return last;
            last = at + 1;
            struct local *local = ARRAY_ADD(&body->locals);
            if (local == NULL) {
                body->failed = true;
                return last;
            }
            *local = (struct local){.offset = insn->displacement,
                                    .width = insn->width,
                                    .parameter = true,
                                    .number = number_of(reads),
                                    .first_store = UINT32_MAX,
                                    .seen = at};
        } else if (insn->kind == ISA_TEST && insn->src == ISA_RETURN && insn->dst == ISA_RETURN &&
                   (passed & 1) != 0 && at + 1 < end && insn[1].kind == ISA_BRANCH) {
            at++; // variable arguments: vector registers are stored if there are any
        } else {
            return last;
        }
    }
    return last;
}

// The first instruction behind the prologue; UINT32_MAX if there is no frame pointer.
uint32_t frame_begin(struct body *body, uint32_t at, uint32_t end)
{
    while (at < end && insn_at(body, at)->kind == ISA_NOTHING)
        at++;
    const struct isa_insn *insn = insn_at(body, at);
    if (at + 2 >= end || insn->kind != ISA_PUSH || insn->src != ISA_FRAME ||
        insn[1].kind != ISA_COPY || insn[1].dst != ISA_FRAME || insn[1].src != ISA_STACK)
        return UINT32_MAX;
    for (at += 2; at < end; at++) {
        insn = insn_at(body, at);
        bool saves = insn->kind == ISA_PUSH && insn->src < 16 && (CALLEE_SAVED >> insn->src & 1);
        bool moves = (insn->kind == ISA_ADD || insn->kind == ISA_AND) && insn->dst == ISA_STACK;
        if (!saves && !moves)
            break;
    }
    at = find_parameters(body, at, end);
    // mov rax, fs:40; mov [frame], rax; xor eax, eax
    if (at + 3 < end && is_guard(insn_at(body, at)) && insn_is_store(insn_at(body, at + 1)))
        at += insn_at(body, at + 2)->kind == ISA_CONSTANT ? 3 : 2;
    return find_parameters(body, at, end);
}

static bool is_ending(const struct isa_insn *insn)
{
    switch (insn->kind) {
    case ISA_NOTHING:
    case ISA_LEAVE:
    case ISA_POP:
        return true;
    case ISA_ADD:
    case ISA_ADDRESS:
        return insn->dst == ISA_STACK;
    case ISA_LOAD: // a register of the caller's
        return insn->base == ISA_FRAME && insn->dst < 16 && (CALLEE_SAVED >> insn->dst & 1) != 0;
    default:
        return false;
    }
}

// The check of the stack guard, which ends with a call that does not return.
static uint32_t skip_guard(const struct body *body, uint32_t at)
{
    for (uint32_t i = at; i > body->first && i + 6 > at; i--)
        if (is_guard(insn_at(body, i - 1)) && insn_is_call(insn_at(body, at - 1)))
            return i - 1 > body->first && insn_at(body, i - 2)->kind == ISA_LOAD ? i - 2 : i - 1;
    return at;
}

void frame_find_tails(struct body *body)
{
    for (uint32_t i = body->first; i < body->end; i++) {
        if (insn_at(body, i)->kind != ISA_RET)
            continue;
        uint32_t at = i;
        while (at > body->first && is_ending(insn_at(body, at - 1)))
            at--;
        while (insn_at(body, at)->kind == ISA_NOTHING)
            at++; // where a `return` leads to
        uint32_t guarded = skip_guard(body, at);
        for (uint32_t j = guarded; j <= i; j++)
            body->tail.items[j - body->start] = true;
    }
}

// clang keeps the value of several `return`s in a variable of its own, which is read at the end.
// Returns its offset, or 0.
static int64_t find_result_variable(struct body *body, uint32_t tail)
{
    const struct isa_insn *load = tail > body->first ? insn_at(body, tail - 1) : NULL;
    if (load == NULL || (load->flags & ISA_MEMORY) == 0 || load->base != ISA_FRAME ||
        load->index != ISA_NONE || (use_at(body, tail - 1)->writes & RESULT) == 0)
        return 0;
    unsigned stores = 0;
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if ((insn->flags & ISA_MEMORY) == 0 || insn->base != ISA_FRAME ||
            insn->displacement != load->displacement || insn == load)
            continue;
        if (!insn_is_store(insn) && insn->kind != ISA_OTHER)
            return 0;
        const struct isa_insn *next = &insn[1];
        uint64_t address = flow_address(body->code->image, load);
        bool leaves = next == load || (next->kind == ISA_JUMP && (uint64_t)next->value == address);
        if (!leaves && i != body->first)
            return 0;
        stores += leaves;
    }
    return stores > 1 ? load->displacement : 0;
}

void frame_find_result(struct body *body)
{
    for (uint32_t i = body->first + 1; i < body->end; i++) {
        const struct isa_insn *load = insn_at(body, i - 1);
        if (!body->tail.items[i - body->start] || body->tail.items[i - 1 - body->start] ||
            find_result_variable(body, i) == 0)
            continue;
        body->tail.items[i - 1 - body->start] = true;
        body->result = load->displacement;
        struct local *local = ARRAY_ADD(&body->locals);
        body->failed |= local == NULL;
        if (local != NULL)
            *local = (struct local){.offset = load->displacement,
                                    .width = load->width,
                                    .temporary = true,
                                    .first_store = UINT32_MAX,
                                    .seen = i - 1,
                                    .last_seen = i - 1};
        return;
    }
}
