// SPDX-License-Identifier: GPL-3.0-or-later
// See fact.h. What the rest of the analyses is not interested in becomes ISA_OTHER, with the
// registers it changes: that is always right, only less telling.
#include "isa/fact.h"

#include "isa/zydis.h"

#include <string.h>

_Static_assert(sizeof(ZydisDecoder) <= sizeof(struct isa_decoder), "the decoder has grown");
_Static_assert(sizeof(struct isa_fact) == 32, "a fact has grown");

struct instruction { // as Zydis sees it
    ZydisDecodedInstruction head;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t address;
};

void isa_decoder_init(struct isa_decoder *decoder)
{
    const struct zydis *library = zydis();
    ZydisDecoder made = {0};
    if (library != NULL)
        library->init(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    memcpy(decoder->words, &made, sizeof made);
}

// rax rcx rdx rbx rsp rbp rsi rdi in the processor's order.
static const uint8_t dwarf_numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

static uint8_t dwarf_number(unsigned number)
{
    return number < 8 ? dwarf_numbers[number] : (uint8_t)number;
}

// ISA_NONE for everything that is not a general register.
static uint8_t register_number(ZydisRegister name)
{
    if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15)
        return dwarf_number((unsigned)(name - ZYDIS_REGISTER_RAX));
    if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D)
        return dwarf_number((unsigned)(name - ZYDIS_REGISTER_EAX));
    if (name >= ZYDIS_REGISTER_AX && name <= ZYDIS_REGISTER_R15W)
        return dwarf_number((unsigned)(name - ZYDIS_REGISTER_AX));
    if (name >= ZYDIS_REGISTER_AL && name <= ZYDIS_REGISTER_BL)
        return dwarf_number((unsigned)(name - ZYDIS_REGISTER_AL));
    if (name >= ZYDIS_REGISTER_SPL && name <= ZYDIS_REGISTER_R15B)
        return dwarf_number((unsigned)(name - ZYDIS_REGISTER_SPL) + 4);
    if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP)
        return ISA_PC;
    return ISA_NONE;
}

static bool is_high_byte(ZydisRegister name)
{
    return name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
}

static uint16_t written(const struct instruction *in)
{
    uint16_t mask = 0;
    for (unsigned i = 0; i < in->head.operand_count; i++) {
        const ZydisDecodedOperand *operand = &in->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
            continue;
        ZydisRegister name = operand->reg.value;
        uint8_t number = is_high_byte(name) ? dwarf_number((unsigned)(name - ZYDIS_REGISTER_AH))
                                            : register_number(name);
        if (number < ISA_REGISTERS)
            mask |= (uint16_t)(1u << number);
    }
    return mask;
}

// The register of an operand that is a plain general register; ISA_NONE otherwise.
static uint8_t plain(const ZydisDecodedOperand *operand)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return ISA_NONE;
    uint8_t number = register_number(operand->reg.value);
    return number < ISA_REGISTERS ? number : ISA_NONE;
}

static bool is_immediate(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static uint8_t bytes_of(const ZydisDecodedOperand *operand)
{
    return (uint8_t)(operand->size / 8 > 64 ? 64 : operand->size / 8);
}

static void set_memory(const struct instruction *in, const ZydisDecodedOperand *operand,
                       struct isa_fact *fact)
{
    fact->flags |= ISA_MEMORY;
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        fact->flags |= ISA_THREAD;
    fact->base =
        operand->mem.base == ZYDIS_REGISTER_NONE ? ISA_NONE : register_number(operand->mem.base);
    fact->index =
        operand->mem.index == ZYDIS_REGISTER_NONE ? ISA_NONE : register_number(operand->mem.index);
    if (operand->mem.scale > 1)
        fact->flags |= (uint8_t)__builtin_ctz(operand->mem.scale) & ISA_SCALE;
    fact->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    if (fact->base == ISA_PC)
        fact->displacement += (int64_t)(in->address + in->head.length);
}

// A value as a register of `width` bytes holds it, seen as signed.
static int64_t narrow(int64_t value, unsigned width)
{
    switch (width) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    case 4:
        return (int32_t)value;
    default:
        return value;
    }
}

static void set_constant(struct isa_fact *fact, int64_t value)
{
    fact->kind = ISA_CONSTANT;
    fact->value = narrow(value, fact->width);
}

static void decode_move(const struct instruction *in, struct isa_fact *fact)
{
    const ZydisDecodedOperand *to = &in->operands[0], *from = &in->operands[1];
    ZydisMnemonic name = in->head.mnemonic;
    fact->width = bytes_of(to);
    fact->from = bytes_of(from);
    if (name == ZYDIS_MNEMONIC_MOVSX || name == ZYDIS_MNEMONIC_MOVSXD)
        fact->flags |= ISA_SIGNED;
    if (is_memory(to)) {
        set_memory(in, to, fact);
        fact->kind = is_immediate(from) ? ISA_STORE_CONSTANT : ISA_STORE;
        fact->src = plain(from);
        fact->value = is_immediate(from) ? narrow(from->imm.value.s, fact->width) : 0;
        return;
    }
    fact->dst = plain(to);
    fact->src = plain(from);
    if (fact->dst == ISA_NONE)
        return;
    if (is_immediate(from)) {
        set_constant(fact, from->imm.value.s);
    } else if (is_memory(from)) {
        set_memory(in, from, fact);
        fact->kind = ISA_LOAD;
    } else if (fact->src != ISA_NONE) {
        fact->kind = ISA_COPY;
    }
}

static void decode_address(const struct instruction *in, struct isa_fact *fact)
{
    fact->dst = plain(&in->operands[0]);
    fact->width = bytes_of(&in->operands[0]);
    set_memory(in, &in->operands[1], fact);
    fact->kind = ISA_ADDRESS;
}

// What remains the same whatever dst was: x ^ x, x - x, x & 0, x | -1.
static bool is_fixed(const struct instruction *in, const struct isa_fact *fact, int64_t *ret_value)
{
    ZydisMnemonic name = in->head.mnemonic;
    const ZydisDecodedOperand *right = &in->operands[1];
    bool same = fact->dst != ISA_NONE && fact->dst == fact->src &&
                in->operands[0].size == right->size &&
                in->operands[0].reg.value == right->reg.value;
    if (same && (name == ZYDIS_MNEMONIC_XOR || name == ZYDIS_MNEMONIC_SUB)) {
        *ret_value = 0;
        return true;
    }
    if (!is_immediate(right))
        return false;
    int64_t value = narrow(right->imm.value.s, fact->width);
    *ret_value = value;
    return (name == ZYDIS_MNEMONIC_AND && value == 0) || (name == ZYDIS_MNEMONIC_OR && value == -1);
}

static enum isa_kind arithmetic_kind(ZydisMnemonic name, bool immediate)
{
    switch (name) {
    case ZYDIS_MNEMONIC_ADD:
        return ISA_ADD;
    case ZYDIS_MNEMONIC_SUB:
        return immediate ? ISA_ADD : ISA_SUBTRACT;
    case ZYDIS_MNEMONIC_AND:
        return ISA_AND;
    case ZYDIS_MNEMONIC_OR:
        return ISA_OR;
    case ZYDIS_MNEMONIC_XOR:
        return ISA_XOR;
    default:
        return ISA_OTHER;
    }
}

static void decode_arithmetic(const struct instruction *in, struct isa_fact *fact)
{
    const ZydisDecodedOperand *to = &in->operands[0], *right = &in->operands[1];
    ZydisMnemonic name = in->head.mnemonic;
    fact->width = bytes_of(to);
    fact->from = bytes_of(right);
    fact->dst = plain(to);
    fact->src = plain(right);
    int64_t value = 0;
    bool fixed = is_fixed(in, fact, &value);
    if (is_memory(to)) {
        set_memory(in, to, fact);
        fact->kind = fixed ? ISA_STORE_CONSTANT : ISA_STORE;
        fact->src = ISA_NONE;
        fact->value = value;
        return;
    }
    if (fact->dst == ISA_NONE)
        return;
    fact->flags |= ISA_RESULT;
    if (fixed) {
        set_constant(fact, value);
        return;
    }
    fact->kind = (uint8_t)arithmetic_kind(name, is_immediate(right));
    if (is_immediate(right))
        fact->value = narrow(name == ZYDIS_MNEMONIC_SUB ? -right->imm.value.s : right->imm.value.s,
                             fact->width);
    else if (fact->src == ISA_NONE)
        fact->kind = name == ZYDIS_MNEMONIC_SUB ? ISA_SUBTRACT_MEMORY : ISA_OTHER;
    if (is_memory(right))
        set_memory(in, right, fact);
    else if (fact->kind == ISA_SUBTRACT_MEMORY)
        fact->kind = ISA_OTHER;
}

static void decode_shift(const struct instruction *in, enum isa_kind kind, struct isa_fact *fact)
{
    const ZydisDecodedOperand *to = &in->operands[0], *by = &in->operands[1];
    fact->width = bytes_of(to);
    fact->dst = plain(to);
    fact->src = plain(by);
    if (is_memory(to)) {
        set_memory(in, to, fact);
        fact->kind = ISA_STORE;
        fact->src = ISA_NONE;
        return;
    }
    if (fact->dst == ISA_NONE)
        return;
    fact->kind = (uint8_t)kind;
    // By a register, the flags stay as they are if it is zero: they are nobody's then.
    if (is_immediate(by)) {
        fact->value = by->imm.value.s & (fact->width == 8 ? 63 : 31);
        fact->flags |= ISA_RESULT;
    }
}

static void decode_bit(const struct instruction *in, struct isa_fact *fact)
{
    const ZydisDecodedOperand *bits = &in->operands[0], *number = &in->operands[1];
    fact->width = bytes_of(bits);
    fact->src = plain(bits);
    fact->dst = plain(number);
    if (fact->src == ISA_NONE || (fact->dst == ISA_NONE && !is_immediate(number)))
        return;
    fact->kind = ISA_BIT;
    if (is_immediate(number))
        fact->value = number->imm.value.s & (fact->width == 8 ? 63 : 31);
}

static void decode_unary(const struct instruction *in, enum isa_kind kind, int64_t value,
                         struct isa_fact *fact)
{
    fact->width = bytes_of(&in->operands[0]);
    fact->dst = plain(&in->operands[0]);
    if (is_memory(&in->operands[0])) {
        set_memory(in, &in->operands[0], fact);
        fact->kind = ISA_STORE;
    } else if (fact->dst != ISA_NONE) {
        fact->kind = (uint8_t)kind;
        fact->value = value;
        if (kind != ISA_INVERT) // not leaves the flags alone
            fact->flags |= ISA_RESULT;
    }
}

static void decode_compare(const struct instruction *in, enum isa_kind kind, struct isa_fact *fact)
{
    const ZydisDecodedOperand *left = &in->operands[0], *right = &in->operands[1];
    if (is_memory(right)) {
        set_memory(in, right, fact);
        fact->width = bytes_of(left);
        fact->src = plain(left);
        fact->kind = fact->src != ISA_NONE ? ISA_COMPARE_MEMORY : ISA_OTHER;
        return;
    }
    fact->kind = (uint8_t)kind;
    fact->width = bytes_of(left);
    fact->src = plain(left);
    fact->dst = plain(right);
    if (is_memory(left))
        set_memory(in, left, fact);
    if (is_immediate(right))
        fact->value = narrow(right->imm.value.s, fact->width);
    else if (fact->dst == ISA_NONE)
        fact->kind = ISA_OTHER;
    if (fact->src == ISA_NONE && !is_memory(left))
        fact->kind = ISA_OTHER;
}

static void decode_push(const struct instruction *in, struct isa_fact *fact)
{
    const ZydisDecodedOperand *what = &in->operands[0];
    fact->kind = ISA_PUSH;
    fact->width = 8;
    fact->src = plain(what);
    if (is_immediate(what))
        fact->value = what->imm.value.s;
    else if (is_memory(what))
        set_memory(in, what, fact);
    else if (fact->src == ISA_NONE)
        fact->flags |= ISA_MEMORY;
}

static void decode_transfer(const struct instruction *in, enum isa_kind direct,
                            enum isa_kind indirect, struct isa_fact *fact)
{
    const ZydisDecodedOperand *target = &in->operands[0];
    if (is_immediate(target)) {
        fact->kind = (uint8_t)direct;
        fact->value = (int64_t)(in->address + in->head.length) + target->imm.value.s;
        return;
    }
    fact->kind = (uint8_t)indirect;
    fact->src = plain(target);
    if (is_memory(target))
        set_memory(in, target, fact);
}

static void decode_select(const struct instruction *in, struct isa_fact *fact)
{
    const ZydisDecodedOperand *from = &in->operands[1];
    fact->kind = ISA_SELECT;
    fact->dst = plain(&in->operands[0]);
    fact->width = bytes_of(&in->operands[0]);
    fact->from = bytes_of(from);
    fact->src = plain(from);
    if (is_memory(from))
        set_memory(in, from, fact);
}

static void decode_set(const struct instruction *in, struct isa_fact *fact)
{
    fact->kind = ISA_SET;
    fact->width = 1;
    fact->dst = plain(&in->operands[0]);
    if (is_memory(&in->operands[0]))
        set_memory(in, &in->operands[0], fact);
    else if (fact->dst == ISA_NONE)
        fact->kind = ISA_OTHER;
}

// The low four bits of the opcode of every jcc, setcc and cmovcc are the condition; jrcxz and loop
// have none.
static uint8_t condition_of(const struct instruction *in)
{
    bool loop = in->head.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && in->head.opcode >= 0xe0;
    return loop ? ISA_IF_UNKNOWN : in->head.opcode & 15;
}

static void decode_by_category(const struct instruction *in, struct isa_fact *fact)
{
    switch (in->head.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        decode_transfer(in, ISA_BRANCH, ISA_JUMP_INDIRECT, fact);
        fact->condition = condition_of(in);
        break;
    case ZYDIS_CATEGORY_CMOV:
        fact->condition = condition_of(in);
        decode_select(in, fact);
        break;
    case ZYDIS_CATEGORY_SETCC:
        fact->condition = condition_of(in);
        decode_set(in, fact);
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        decode_transfer(in, ISA_JUMP, ISA_JUMP_INDIRECT, fact);
        break;
    case ZYDIS_CATEGORY_CALL:
        decode_transfer(in, ISA_CALL, ISA_CALL_INDIRECT, fact);
        break;
    case ZYDIS_CATEGORY_RET:
        fact->kind = ISA_LEAVE_FUNCTION;
        break;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        fact->kind = ISA_NOTHING;
        break;
    default:
        for (unsigned i = 0; i < in->head.operand_count_visible; i++) {
            if (!is_memory(&in->operands[i]) || fact->kind == ISA_STORE)
                continue;
            fact->flags &= (uint8_t) ~(ISA_SCALE | ISA_THREAD);
            set_memory(in, &in->operands[i], fact);
            // A store nobody understands still changes memory.
            if ((in->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
                fact->kind = ISA_STORE;
                fact->width = bytes_of(&in->operands[i]);
            }
        }
        break;
    }
}

static void decode_sign(const struct instruction *in, struct isa_fact *fact)
{
    // cdqe, cwde: rax = the lower half of it.
    fact->kind = ISA_COPY;
    fact->dst = fact->src = ISA_RETURN;
    fact->width = in->head.mnemonic == ZYDIS_MNEMONIC_CDQE ? 8 : 4;
    fact->from = fact->width / 2;
    fact->flags |= ISA_SIGNED;
}

static void decode_borrow(const struct instruction *in, struct isa_fact *fact)
{
    fact->dst = plain(&in->operands[0]);
    fact->width = bytes_of(&in->operands[0]);
    if (fact->dst != ISA_NONE && fact->dst == plain(&in->operands[1]))
        fact->kind = ISA_BORROW;
    if (fact->dst != ISA_NONE && is_immediate(&in->operands[1])) {
        fact->kind = ISA_SUBTRACT_CARRY;
        fact->value = narrow(-in->operands[1].imm.value.s, fact->width);
    }
}

static void decode_carry(const struct instruction *in, struct isa_fact *fact)
{
    fact->dst = plain(&in->operands[0]);
    fact->width = bytes_of(&in->operands[0]);
    if (fact->dst != ISA_NONE && is_immediate(&in->operands[1])) {
        fact->kind = ISA_ADD_CARRY;
        fact->value = narrow(in->operands[1].imm.value.s, fact->width);
    } else {
        decode_by_category(in, fact);
    }
}

// Instructions that calculate nothing that is kept.
static void decode_special(const struct instruction *in, struct isa_fact *fact)
{
    switch (in->head.mnemonic) {
    case ZYDIS_MNEMONIC_CMP:
        decode_compare(in, ISA_COMPARE, fact);
        break;
    case ZYDIS_MNEMONIC_TEST:
        decode_compare(in, ISA_TEST, fact);
        break;
    case ZYDIS_MNEMONIC_PUSH:
        decode_push(in, fact);
        break;
    case ZYDIS_MNEMONIC_POP:
        fact->kind = ISA_POP;
        fact->width = 8;
        fact->dst = plain(&in->operands[0]);
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        fact->kind = ISA_LEAVE;
        break;
    case ZYDIS_MNEMONIC_SYSCALL:
        fact->kind = ISA_SYSCALL;
        break;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
        fact->kind = ISA_STOP;
        break;
    case ZYDIS_MNEMONIC_ENDBR64:
        fact->kind = ISA_NOTHING;
        break;
    default:
        decode_by_category(in, fact);
        break;
    }
}

static void decode_any(const struct instruction *in, struct isa_fact *fact)
{
    switch (in->head.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        decode_move(in, fact);
        break;
    case ZYDIS_MNEMONIC_LEA:
        decode_address(in, fact);
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        decode_arithmetic(in, fact);
        break;
    case ZYDIS_MNEMONIC_SHL:
        decode_shift(in, ISA_SHIFT_LEFT, fact);
        break;
    case ZYDIS_MNEMONIC_SHR:
        decode_shift(in, ISA_SHIFT_RIGHT, fact);
        break;
    case ZYDIS_MNEMONIC_SAR:
        decode_shift(in, ISA_SHIFT_SIGNED, fact);
        break;
    case ZYDIS_MNEMONIC_BT:
        decode_bit(in, fact);
        break;
    case ZYDIS_MNEMONIC_INC:
        decode_unary(in, ISA_ADD, 1, fact);
        break;
    case ZYDIS_MNEMONIC_DEC:
        decode_unary(in, ISA_ADD, -1, fact);
        break;
    case ZYDIS_MNEMONIC_NEG:
        decode_unary(in, ISA_NEGATE, 0, fact);
        break;
    case ZYDIS_MNEMONIC_NOT:
        decode_unary(in, ISA_INVERT, 0, fact);
        break;
    case ZYDIS_MNEMONIC_SBB:
        decode_borrow(in, fact);
        break;
    case ZYDIS_MNEMONIC_ADC:
        decode_carry(in, fact);
        break;
    case ZYDIS_MNEMONIC_CDQE:
    case ZYDIS_MNEMONIC_CWDE:
        decode_sign(in, fact);
        break;
    default:
        decode_special(in, fact);
        break;
    }
}

bool isa_decode(const struct isa_decoder *decoder, const void *bytes, size_t size, uint64_t address,
                struct isa_fact *ret_fact)
{
    const struct zydis *library = zydis();
    struct instruction in;
    if (library == NULL || ZYAN_FAILED(library->decode((const ZydisDecoder *)decoder->words, bytes,
                                                       size, &in.head, in.operands)))
        return false;
    in.address = address;
    *ret_fact = (struct isa_fact){.length = in.head.length,
                                  .dst = ISA_NONE,
                                  .src = ISA_NONE,
                                  .base = ISA_NONE,
                                  .index = ISA_NONE,
                                  .condition = ISA_IF_UNKNOWN,
                                  .writes = written(&in)};
    if (in.head.cpu_flags != NULL && (in.head.cpu_flags->modified | in.head.cpu_flags->set_0 |
                                      in.head.cpu_flags->set_1 | in.head.cpu_flags->undefined) != 0)
        ret_fact->flags |= ISA_FLAGS;
    decode_any(&in, ret_fact);
    return true;
}
