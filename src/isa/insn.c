// SPDX-License-Identifier: GPL-3.0-or-later
// Reduces what Zydis decodes to struct isa_insn. An instruction that the analyses do not need
// becomes ISA_OTHER with the registers it changes: that is always correct, only less precise.
#include "isa/insn.h"

#include "isa/zydis.h"

#include <string.h>

_Static_assert(sizeof(ZydisDecoder) <= sizeof(struct isa_decoder), "the decoder has grown");
_Static_assert(sizeof(struct isa_insn) == 32, "struct isa_insn has grown");

struct decoded { // as Zydis sees it
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

// The DWARF number of a general register; ISA_NONE for others.
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

static uint16_t written(const struct decoded *in)
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

// Whether it takes a number off the stack of the x87 unit.
static bool pops_float(const struct decoded *in)
{
    ZydisMnemonic name = in->head.mnemonic;
    return name == ZYDIS_MNEMONIC_FSTP || name == ZYDIS_MNEMONIC_FCOMIP ||
           name == ZYDIS_MNEMONIC_FUCOMIP || name == ZYDIS_MNEMONIC_FISTP;
}

static bool writes_float(const struct decoded *in)
{
    for (unsigned i = 0; i < in->head.operand_count && !pops_float(in); i++) {
        const ZydisDecodedOperand *operand = &in->operands[i];
        ZydisRegister name = operand->reg.value; // of a register
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
            (name == ZYDIS_REGISTER_XMM0 || name == ZYDIS_REGISTER_YMM0 ||
             name == ZYDIS_REGISTER_ST0))
            return true;
    }
    return false;
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

static void set_memory(const struct decoded *in, const ZydisDecodedOperand *operand,
                       struct isa_insn *insn)
{
    insn->flags |= ISA_MEMORY;
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        insn->flags |= ISA_THREAD;
    insn->base =
        operand->mem.base == ZYDIS_REGISTER_NONE ? ISA_NONE : register_number(operand->mem.base);
    insn->index =
        operand->mem.index == ZYDIS_REGISTER_NONE ? ISA_NONE : register_number(operand->mem.index);
    if (operand->mem.scale > 1)
        insn->flags |= (uint8_t)__builtin_ctz(operand->mem.scale) & ISA_SCALE;
    insn->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    if (insn->base == ISA_PC)
        insn->displacement += (int64_t)(in->address + in->head.length);
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

static void set_constant(struct isa_insn *insn, int64_t value)
{
    insn->kind = ISA_CONSTANT;
    insn->value = narrow(value, insn->width);
}

static void decode_move(const struct decoded *in, struct isa_insn *insn)
{
    const ZydisDecodedOperand *to = &in->operands[0], *from = &in->operands[1];
    ZydisMnemonic name = in->head.mnemonic;
    insn->width = bytes_of(to);
    insn->from = bytes_of(from);
    if (name == ZYDIS_MNEMONIC_MOVSX || name == ZYDIS_MNEMONIC_MOVSXD)
        insn->flags |= ISA_SIGNED;
    if (is_memory(to)) {
        set_memory(in, to, insn);
        insn->kind = is_immediate(from) ? ISA_STORE_CONSTANT : ISA_STORE;
        insn->src = plain(from);
        insn->value = is_immediate(from) ? narrow(from->imm.value.s, insn->width) : 0;
        return;
    }
    insn->dst = plain(to);
    insn->src = plain(from);
    if (insn->dst == ISA_NONE)
        return;
    if (is_immediate(from)) {
        set_constant(insn, from->imm.value.s);
    } else if (is_memory(from)) {
        set_memory(in, from, insn);
        insn->kind = ISA_LOAD;
    } else if (insn->src != ISA_NONE) {
        insn->kind = ISA_COPY;
    }
}

static void decode_address(const struct decoded *in, struct isa_insn *insn)
{
    insn->dst = plain(&in->operands[0]);
    insn->width = bytes_of(&in->operands[0]);
    set_memory(in, &in->operands[1], insn);
    insn->kind = ISA_ADDRESS;
}

// Whether the result is the same whatever dst was: x ^ x, x - x, x & 0, x | -1.
static bool is_fixed(const struct decoded *in, const struct isa_insn *insn, int64_t *ret_value)
{
    ZydisMnemonic name = in->head.mnemonic;
    const ZydisDecodedOperand *right = &in->operands[1];
    bool same = insn->dst != ISA_NONE && insn->dst == insn->src &&
                in->operands[0].size == right->size &&
                in->operands[0].reg.value == right->reg.value;
    if (same && (name == ZYDIS_MNEMONIC_XOR || name == ZYDIS_MNEMONIC_SUB)) {
        *ret_value = 0;
        return true;
    }
    if (!is_immediate(right))
        return false;
    int64_t value = narrow(right->imm.value.s, insn->width);
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

static void decode_arithmetic(const struct decoded *in, struct isa_insn *insn)
{
    const ZydisDecodedOperand *to = &in->operands[0], *right = &in->operands[1];
    ZydisMnemonic name = in->head.mnemonic;
    insn->width = bytes_of(to);
    insn->from = bytes_of(right);
    insn->dst = plain(to);
    insn->src = plain(right);
    int64_t value = 0;
    bool fixed = is_fixed(in, insn, &value);
    if (is_memory(to)) {
        set_memory(in, to, insn);
        insn->kind = fixed ? ISA_STORE_CONSTANT : ISA_STORE;
        insn->src = ISA_NONE;
        insn->value = value;
        return;
    }
    if (insn->dst == ISA_NONE)
        return;
    insn->flags |= ISA_RESULT;
    if (fixed) {
        set_constant(insn, value);
        return;
    }
    insn->kind = (uint8_t)arithmetic_kind(name, is_immediate(right));
    if (is_immediate(right))
        insn->value = narrow(name == ZYDIS_MNEMONIC_SUB ? -right->imm.value.s : right->imm.value.s,
                             insn->width);
    else if (insn->src == ISA_NONE)
        insn->kind = name == ZYDIS_MNEMONIC_SUB ? ISA_SUBTRACT_MEMORY : ISA_OTHER;
    if (is_memory(right))
        set_memory(in, right, insn);
    else if (insn->kind == ISA_SUBTRACT_MEMORY)
        insn->kind = ISA_OTHER;
}

static void decode_shift(const struct decoded *in, enum isa_kind kind, struct isa_insn *insn)
{
    const ZydisDecodedOperand *to = &in->operands[0], *by = &in->operands[1];
    insn->width = bytes_of(to);
    insn->dst = plain(to);
    insn->src = plain(by);
    if (is_memory(to)) {
        set_memory(in, to, insn);
        insn->kind = ISA_STORE;
        insn->src = ISA_NONE;
        return;
    }
    if (insn->dst == ISA_NONE)
        return;
    insn->kind = (uint8_t)kind;
    // A shift by a register leaves the flags alone if it is zero, so they are unknown afterwards.
    if (is_immediate(by)) {
        insn->value = by->imm.value.s & (insn->width == 8 ? 63 : 31);
        insn->flags |= ISA_RESULT;
    }
}

static void decode_bit(const struct decoded *in, struct isa_insn *insn)
{
    const ZydisDecodedOperand *bits = &in->operands[0], *number = &in->operands[1];
    insn->width = bytes_of(bits);
    insn->src = plain(bits);
    insn->dst = plain(number);
    if (insn->src == ISA_NONE || (insn->dst == ISA_NONE && !is_immediate(number)))
        return;
    insn->kind = ISA_BIT;
    if (is_immediate(number))
        insn->value = number->imm.value.s & (insn->width == 8 ? 63 : 31);
}

static void decode_unary(const struct decoded *in, enum isa_kind kind, int64_t value,
                         struct isa_insn *insn)
{
    insn->width = bytes_of(&in->operands[0]);
    insn->dst = plain(&in->operands[0]);
    if (is_memory(&in->operands[0])) {
        set_memory(in, &in->operands[0], insn);
        insn->kind = ISA_STORE;
    } else if (insn->dst != ISA_NONE) {
        insn->kind = (uint8_t)kind;
        insn->value = value;
        if (kind != ISA_INVERT) // NOT leaves the flags alone
            insn->flags |= ISA_RESULT;
    }
}

static void decode_compare(const struct decoded *in, enum isa_kind kind, struct isa_insn *insn)
{
    const ZydisDecodedOperand *left = &in->operands[0], *right = &in->operands[1];
    if (is_memory(right)) {
        set_memory(in, right, insn);
        insn->width = bytes_of(left);
        insn->src = plain(left);
        insn->kind = insn->src != ISA_NONE ? ISA_COMPARE_MEMORY : ISA_OTHER;
        return;
    }
    insn->kind = (uint8_t)kind;
    insn->width = bytes_of(left);
    insn->src = plain(left);
    insn->dst = plain(right);
    if (is_memory(left))
        set_memory(in, left, insn);
    if (is_immediate(right))
        insn->value = narrow(right->imm.value.s, insn->width);
    else if (insn->dst == ISA_NONE)
        insn->kind = ISA_OTHER;
    if (insn->src == ISA_NONE && !is_memory(left))
        insn->kind = ISA_OTHER;
}

static void decode_push(const struct decoded *in, struct isa_insn *insn)
{
    const ZydisDecodedOperand *what = &in->operands[0];
    insn->kind = ISA_PUSH;
    insn->width = 8;
    insn->src = plain(what);
    if (is_immediate(what))
        insn->value = what->imm.value.s;
    else if (is_memory(what))
        set_memory(in, what, insn);
    else if (insn->src == ISA_NONE)
        insn->flags |= ISA_MEMORY;
}

static void decode_transfer(const struct decoded *in, enum isa_kind direct, enum isa_kind indirect,
                            struct isa_insn *insn)
{
    const ZydisDecodedOperand *target = &in->operands[0];
    if (is_immediate(target)) {
        insn->kind = (uint8_t)direct;
        insn->value = (int64_t)(in->address + in->head.length) + target->imm.value.s;
        return;
    }
    insn->kind = (uint8_t)indirect;
    insn->src = plain(target);
    if (is_memory(target))
        set_memory(in, target, insn);
}

static void decode_select(const struct decoded *in, struct isa_insn *insn)
{
    const ZydisDecodedOperand *from = &in->operands[1];
    insn->kind = ISA_SELECT;
    insn->dst = plain(&in->operands[0]);
    insn->width = bytes_of(&in->operands[0]);
    insn->from = bytes_of(from);
    insn->src = plain(from);
    if (is_memory(from))
        set_memory(in, from, insn);
}

static void decode_set(const struct decoded *in, struct isa_insn *insn)
{
    insn->kind = ISA_SET;
    insn->width = 1;
    insn->dst = plain(&in->operands[0]);
    if (is_memory(&in->operands[0]))
        set_memory(in, &in->operands[0], insn);
    else if (insn->dst == ISA_NONE)
        insn->kind = ISA_OTHER;
}

// The low four bits of the opcode of every jcc, setcc and cmovcc are the condition; jrcxz and loop
// have none.
static uint8_t condition_of(const struct decoded *in)
{
    bool loop = in->head.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && in->head.opcode >= 0xe0;
    return loop ? ISA_IF_UNKNOWN : in->head.opcode & 15;
}

static void decode_by_category(const struct decoded *in, struct isa_insn *insn)
{
    switch (in->head.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        decode_transfer(in, ISA_BRANCH, ISA_JUMP_INDIRECT, insn);
        insn->condition = condition_of(in);
        break;
    case ZYDIS_CATEGORY_CMOV:
        insn->condition = condition_of(in);
        decode_select(in, insn);
        break;
    case ZYDIS_CATEGORY_SETCC:
        insn->condition = condition_of(in);
        decode_set(in, insn);
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        decode_transfer(in, ISA_JUMP, ISA_JUMP_INDIRECT, insn);
        break;
    case ZYDIS_CATEGORY_CALL:
        decode_transfer(in, ISA_CALL, ISA_CALL_INDIRECT, insn);
        break;
    case ZYDIS_CATEGORY_RET:
        insn->kind = ISA_RET;
        break;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        insn->kind = ISA_NOTHING;
        break;
    default:
        for (unsigned i = 0; i < in->head.operand_count_visible; i++) {
            if (!is_memory(&in->operands[i]) || insn->kind == ISA_STORE)
                continue;
            insn->flags &= (uint8_t) ~(ISA_SCALE | ISA_THREAD);
            set_memory(in, &in->operands[i], insn);
            // A store that is not understood still changes memory.
            if ((in->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
                insn->kind = ISA_STORE;
                insn->width = bytes_of(&in->operands[i]);
            }
        }
        break;
    }
}

static void decode_sign(const struct decoded *in, struct isa_insn *insn)
{
    // cdqe, cwde: rax = the lower half of it.
    insn->kind = ISA_COPY;
    insn->dst = insn->src = ISA_RETURN;
    insn->width = in->head.mnemonic == ZYDIS_MNEMONIC_CDQE ? 8 : 4;
    insn->from = insn->width / 2;
    insn->flags |= ISA_SIGNED;
}

static void decode_borrow(const struct decoded *in, struct isa_insn *insn)
{
    insn->dst = plain(&in->operands[0]);
    insn->width = bytes_of(&in->operands[0]);
    if (insn->dst != ISA_NONE && insn->dst == plain(&in->operands[1]))
        insn->kind = ISA_BORROW;
    if (insn->dst != ISA_NONE && is_immediate(&in->operands[1])) {
        insn->kind = ISA_SUBTRACT_CARRY;
        insn->value = narrow(-in->operands[1].imm.value.s, insn->width);
    }
}

static void decode_carry(const struct decoded *in, struct isa_insn *insn)
{
    insn->dst = plain(&in->operands[0]);
    insn->width = bytes_of(&in->operands[0]);
    if (insn->dst != ISA_NONE && is_immediate(&in->operands[1])) {
        insn->kind = ISA_ADD_CARRY;
        insn->value = narrow(in->operands[1].imm.value.s, insn->width);
    } else {
        decode_by_category(in, insn);
    }
}

// Instructions without a result to keep.
static void decode_special(const struct decoded *in, struct isa_insn *insn)
{
    switch (in->head.mnemonic) {
    case ZYDIS_MNEMONIC_CMP:
        decode_compare(in, ISA_COMPARE, insn);
        break;
    case ZYDIS_MNEMONIC_TEST:
        decode_compare(in, ISA_TEST, insn);
        break;
    case ZYDIS_MNEMONIC_PUSH:
        decode_push(in, insn);
        break;
    case ZYDIS_MNEMONIC_POP:
        insn->kind = ISA_POP;
        insn->width = 8;
        insn->dst = plain(&in->operands[0]);
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        insn->kind = ISA_LEAVE;
        break;
    case ZYDIS_MNEMONIC_SYSCALL:
        insn->kind = ISA_SYSCALL;
        break;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
        insn->kind = ISA_STOP;
        break;
    case ZYDIS_MNEMONIC_ENDBR64:
        insn->kind = ISA_NOTHING;
        break;
    default:
        decode_by_category(in, insn);
        break;
    }
}

static void decode_any(const struct decoded *in, struct isa_insn *insn)
{
    switch (in->head.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        decode_move(in, insn);
        break;
    case ZYDIS_MNEMONIC_LEA:
        decode_address(in, insn);
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        decode_arithmetic(in, insn);
        break;
    case ZYDIS_MNEMONIC_SHL:
        decode_shift(in, ISA_SHIFT_LEFT, insn);
        break;
    case ZYDIS_MNEMONIC_SHR:
        decode_shift(in, ISA_SHIFT_RIGHT, insn);
        break;
    case ZYDIS_MNEMONIC_SAR:
        decode_shift(in, ISA_SHIFT_SIGNED, insn);
        break;
    case ZYDIS_MNEMONIC_BT:
        decode_bit(in, insn);
        break;
    case ZYDIS_MNEMONIC_INC:
        decode_unary(in, ISA_ADD, 1, insn);
        break;
    case ZYDIS_MNEMONIC_DEC:
        decode_unary(in, ISA_ADD, -1, insn);
        break;
    case ZYDIS_MNEMONIC_NEG:
        decode_unary(in, ISA_NEGATE, 0, insn);
        break;
    case ZYDIS_MNEMONIC_NOT:
        decode_unary(in, ISA_INVERT, 0, insn);
        break;
    case ZYDIS_MNEMONIC_SBB:
        decode_borrow(in, insn);
        break;
    case ZYDIS_MNEMONIC_ADC:
        decode_carry(in, insn);
        break;
    case ZYDIS_MNEMONIC_CDQE:
    case ZYDIS_MNEMONIC_CWDE:
        decode_sign(in, insn);
        break;
    default:
        decode_special(in, insn);
        break;
    }
}

bool isa_decode(const struct isa_decoder *decoder, const void *bytes, size_t size, uint64_t address,
                struct isa_insn *ret_insn)
{
    const struct zydis *library = zydis();
    struct decoded in;
    if (library == NULL || ZYAN_FAILED(library->decode((const ZydisDecoder *)decoder->words, bytes,
                                                       size, &in.head, in.operands)))
        return false;
    in.address = address;
    *ret_insn = (struct isa_insn){.length = in.head.length,
                                  .dst = ISA_NONE,
                                  .src = ISA_NONE,
                                  .base = ISA_NONE,
                                  .index = ISA_NONE,
                                  .condition = ISA_IF_UNKNOWN,
                                  .writes = written(&in)};
    if (in.head.cpu_flags != NULL && (in.head.cpu_flags->modified | in.head.cpu_flags->set_0 |
                                      in.head.cpu_flags->set_1 | in.head.cpu_flags->undefined) != 0)
        ret_insn->flags |= ISA_FLAGS;
    if (writes_float(&in))
        ret_insn->flags |= ISA_FLOAT;
    decode_any(&in, ret_insn);
    if (ret_insn->kind == ISA_OTHER && pops_float(&in)) {
        ret_insn->kind = ISA_NOTHING;
        ret_insn->flags |= ISA_FLOAT;
    }
    return true;
}
