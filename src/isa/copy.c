// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a register through straight code to see whether another one holds a copy of it.
#include "isa/copy.h"

#include "isa/zydis.h"

static const ZydisRegister registers[] = {
    ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RBX,
    ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RSP,
    ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11,
    ZYDIS_REGISTER_R12, ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15,
};

static ZydisRegister whole(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER
               ? zydis()->enclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value)
               : ZYDIS_REGISTER_NONE;
}

static bool is_copy(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                    ZydisRegister from, ZydisRegister to)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_MOV && instruction->operand_width >= 32 &&
           whole(&operands[0]) == to && whole(&operands[1]) == from;
}

static bool writes(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                   ZydisRegister wanted)
{
    for (unsigned i = 0; i < instruction->operand_count; i++)
        if ((operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
            whole(&operands[i]) == wanted)
            return true;
    return false;
}

bool isa_holds_copy(const void *code, size_t size, unsigned from, unsigned to)
{
    const unsigned char *at = code, *end = at + size;
    const struct zydis *library = zydis();
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool copied = false;
    if (from > 15 || to > 15 || library == NULL ||
        ZYAN_FAILED(library->init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    while (at < end) {
        if (ZYAN_FAILED(library->decode(&decoder, at, (size_t)(end - at), &instruction, operands)))
            return false;
        at += instruction.length;
        if (instruction.meta.category == ZYDIS_CATEGORY_CALL)
            return at == end && copied;
        if (is_copy(&instruction, operands, registers[from], registers[to]))
            copied = true;
        else if (writes(&instruction, operands, registers[from]) ||
                 writes(&instruction, operands, registers[to]))
            copied = false;
    }
    return false;
}
