// SPDX-License-Identifier: GPL-3.0-or-later
// Reduces what Zydis knows of operands to sets of registers.
#include "isa/use.h"

#include "isa/zydis-operands.h"

// rax rcx rdx rbx rsp rbp rsi rdi in the processor's order.
static const uint8_t dwarf_numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

uint8_t isa_general_number(const struct zydis *library, ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_NONE)
        return ISA_NONE;
    ZydisRegister whole = library->enclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return ISA_NONE;
    unsigned number = (unsigned)(whole - ZYDIS_REGISTER_RAX);
    return (uint8_t)(number < 8 ? dwarf_numbers[number] : number);
}

static uint64_t place_of(const struct zydis *library, ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_NONE)
        return 0;
    uint8_t general = isa_general_number(library, name);
    if (general != ISA_NONE)
        return ISA_USE_GENERAL(general);
    ZydisRegister whole = library->enclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM15)
        return ISA_USE_VECTOR(whole - ZYDIS_REGISTER_ZMM0);
    if (name >= ZYDIS_REGISTER_ST0 && name <= ZYDIS_REGISTER_ST7)
        return ISA_USE_X87;
    return 0;
}

bool isa_clears(const ZydisDecodedInstruction *head, const ZydisDecodedOperand *operands)
{
    switch (head->mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
        return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[0].reg.value == operands[1].reg.value;
    default:
        return false;
    }
}

// Conversions leave the upper half of a vector register as it is; nobody reads that.
static bool converts(ZydisMnemonic name)
{
    switch (name) {
    case ZYDIS_MNEMONIC_CVTSI2SD:
    case ZYDIS_MNEMONIC_CVTSI2SS:
    case ZYDIS_MNEMONIC_CVTSS2SD:
    case ZYDIS_MNEMONIC_CVTSD2SS:
    case ZYDIS_MNEMONIC_SQRTSS:
    case ZYDIS_MNEMONIC_SQRTSD:
        return true;
    default:
        return false;
    }
}

static enum isa_operator operator_of(ZydisMnemonic name)
{
    switch (name) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_INC:
        return ISA_PLUS;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_DEC:
        return ISA_MINUS;
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
        return ISA_TIMES;
    case ZYDIS_MNEMONIC_IDIV:
    case ZYDIS_MNEMONIC_DIV:
        return ISA_DIVIDED;
    case ZYDIS_MNEMONIC_ADDSS:
    case ZYDIS_MNEMONIC_ADDSD:
        return ISA_FLOAT_PLUS;
    case ZYDIS_MNEMONIC_SUBSS:
    case ZYDIS_MNEMONIC_SUBSD:
        return ISA_FLOAT_MINUS;
    case ZYDIS_MNEMONIC_MULSS:
    case ZYDIS_MNEMONIC_MULSD:
        return ISA_FLOAT_TIMES;
    case ZYDIS_MNEMONIC_DIVSS:
    case ZYDIS_MNEMONIC_DIVSD:
        return ISA_FLOAT_DIVIDED;
    default:
        return ISA_NO_OPERATOR;
    }
}

static void add_operand(const struct zydis *library, const ZydisDecodedOperand *operand,
                        struct isa_use *use)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        use->reads |= place_of(library, operand->mem.base) | place_of(library, operand->mem.index);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        uint64_t place = place_of(library, operand->reg.value);
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
            use->reads |= place;
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
            use->writes |= place;
    }
}

bool isa_use(const struct isa_decoder *decoder, const void *bytes, size_t size,
             struct isa_use *ret_use)
{
    const struct zydis *library = zydis();
    ZydisDecodedInstruction head;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (library == NULL || ZYAN_FAILED(library->decode((const ZydisDecoder *)decoder->words, bytes,
                                                       size, &head, operands)))
        return false;
    struct isa_use use = {.computes = (uint8_t)operator_of(head.mnemonic)};
    if (converts(head.mnemonic))
        operands[0].actions &= (ZydisOperandActions)~ZYDIS_OPERAND_ACTION_MASK_READ;
    for (unsigned i = 0; i < head.operand_count; i++)
        add_operand(library, &operands[i], &use);
    if (isa_clears(&head, operands)) {
        use.reads &= ~use.writes;
        use.computes = ISA_NO_OPERATOR;
    }
    if (head.cpu_flags != NULL) {
        if (head.cpu_flags->tested != 0)
            use.reads |= ISA_USE_FLAGS;
        if ((head.cpu_flags->modified | head.cpu_flags->set_0 | head.cpu_flags->set_1 |
             head.cpu_flags->undefined) != 0)
            use.writes |= ISA_USE_FLAGS;
    }
    if ((head.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0)
        use.modrm = head.raw.modrm.offset;
    use.displacement = head.raw.disp.offset;
    use.displacement_size = (uint8_t)(head.raw.disp.size / 8);
    use.immediate = head.raw.imm[0].offset;
    use.immediate_size = (uint8_t)(head.raw.imm[0].size / 8);
    use.extends = head.mnemonic == ZYDIS_MNEMONIC_CDQ || head.mnemonic == ZYDIS_MNEMONIC_CQO;
    *ret_use = use;
    return true;
}
