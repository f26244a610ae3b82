// SPDX-License-Identifier: GPL-3.0-or-later
// A pointer gets a wrong value. A variable's own address is no pointer in the source.
#include "mutate/pass/types.h"

static int pointer_operand(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
    case LLVMGetElementPtr:
        return 0;
    case LLVMStore:
        return 1;
    default:
        return -1;
    }
}

static bool can_inject(const struct fault_place *place)
{
    int at = pointer_operand(place->instruction);
    if (at < 0)
        return false;
    LLVMValueRef pointer = LLVMGetOperand(place->instruction, (unsigned)at);
    return LLVMIsAAllocaInst(pointer) == NULL && LLVMIsAConstant(pointer) == NULL &&
           LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    unsigned at = (unsigned)pointer_operand(instruction);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, at));
    if (LLVMGetInstructionOpcode(instruction) == LLVMGetElementPtr)
        LLVMSetIsInBounds(instruction, false);
    LLVMSetOperand(instruction, at, fault_unknown(edit, type, edit->random));
}

const struct fault_type type_corrupt_pointer = {
    ORDEAL_FAULT_VERSION, "corrupt-pointer",
    "assignment",         "replace pointer operand with random value",
    can_inject,           apply,
};
