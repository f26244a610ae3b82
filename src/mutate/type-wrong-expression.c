// SPDX-License-Identifier: GPL-3.0-or-later
// WAEP: what is passed is worked out wrongly.
#include "mutate/types.h"

// The first argument that is the result of an operation on integers; -1 if there is none.
static int pick(LLVMValueRef call)
{
    if (LLVMIsACallInst(call) == NULL || !fault_is_plain_call(call))
        return -1;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        if (LLVMIsABinaryOperator(argument) != NULL && fault_is_integer(argument) &&
            LLVMGetInstructionParent(argument) == LLVMGetInstructionParent(call))
            return (int)i;
    }
    return -1;
}

static bool can_inject(const struct fault_place *place)
{
    return pick(place->instruction) >= 0;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    unsigned at = (unsigned)pick(instruction);
    LLVMValueRef right = LLVMGetOperand(instruction, at);
    LLVMValueRef first = LLVMGetOperand(right, 0), second = LLVMGetOperand(right, 1);
    LLVMValueRef wrong = LLVMGetInstructionOpcode(right) == LLVMAdd
                             ? LLVMBuildSub(edit->builder, first, second, "")
                             : LLVMBuildAdd(edit->builder, first, second, "");
    LLVMSetOperand(instruction, at, wrong);
}

const struct fault_type type_wrong_expression = {
    ORDEAL_FAULT_VERSION, "wrong-expression",
    "interface",          "wrong arithmetic expression in function call parameter (WAEP)",
    can_inject,           apply,
};
