// SPDX-License-Identifier: GPL-3.0-or-later
// The element beside the one that is meant.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef access = place->instruction;
    if (LLVMGetInstructionOpcode(access) != LLVMGetElementPtr)
        return false;
    unsigned indices = (unsigned)LLVMGetNumOperands(access) - 1;
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetGEPSourceElementType(access));
    if (!fault_is_integer(LLVMGetOperand(access, indices)))
        return false;
    // An array that becomes a pointer to its beginning is no access to an element.
    LLVMValueRef last = LLVMGetOperand(access, indices);
    if (indices == 2)
        return kind == LLVMArrayTypeKind &&
               !(LLVMIsAConstantInt(last) != NULL && LLVMConstIntGetZExtValue(last) == 0);
    return indices == 1;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    unsigned last = (unsigned)LLVMGetNumOperands(instruction) - 1;
    LLVMValueRef index = LLVMGetOperand(instruction, last);
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(index), 1, false);
    LLVMSetIsInBounds(instruction, false);
    LLVMSetOperand(instruction, last,
                   edit->random % 2 != 0 ? LLVMBuildAdd(edit->builder, index, one, "")
                                         : LLVMBuildSub(edit->builder, index, one, ""));
}

const struct fault_type type_corrupt_index = {
    ORDEAL_FAULT_VERSION, "corrupt-index", "assignment", "off-by-one error in array index",
    can_inject,           apply,
};
