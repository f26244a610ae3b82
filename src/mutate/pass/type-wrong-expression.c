// SPDX-License-Identifier: GPL-3.0-or-later
// WAEP: a wrong expression is passed as an argument.
#include "mutate/pass/types.h"

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

// The operation behind an argument. A result that other blocks use, too, has been moved to memory
// by now and is loaded for the call; then it is the operation whose result the same block stores
// there.
static LLVMValueRef stored(LLVMValueRef call, LLVMValueRef argument)
{
    if (LLVMIsALoadInst(argument) == NULL || LLVMIsAAllocaInst(LLVMGetOperand(argument, 0)) == NULL)
        return NULL;
    LLVMValueRef room = LLVMGetOperand(argument, 0);
    for (LLVMUseRef use = LLVMGetFirstUse(room); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAStoreInst(user) != NULL && LLVMGetOperand(user, 1) == room &&
            LLVMGetInstructionParent(user) == LLVMGetInstructionParent(call) &&
            LLVMIsABinaryOperator(LLVMGetOperand(user, 0)) != NULL)
            return LLVMGetOperand(user, 0);
    }
    return NULL;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    int at = pick(instruction);
    LLVMValueRef right = at >= 0 ? LLVMGetOperand(instruction, (unsigned)at) : NULL;
    for (unsigned i = 0; right == NULL && i < LLVMGetNumArgOperands(instruction); i++) {
        right = stored(instruction, LLVMGetOperand(instruction, i));
        at = (int)i;
    }
    if (right == NULL)
        return;
    LLVMValueRef first = LLVMGetOperand(right, 0), second = LLVMGetOperand(right, 1);
    LLVMValueRef wrong = LLVMGetInstructionOpcode(right) == LLVMAdd
                             ? LLVMBuildSub(edit->builder, first, second, "")
                             : LLVMBuildAdd(edit->builder, first, second, "");
    LLVMSetOperand(instruction, (unsigned)at, wrong);
}

const struct fault_type type_wrong_expression = {
    ORDEAL_FAULT_VERSION, "wrong-expression",
    "interface",          "wrong arithmetic expression in function call parameter (WAEP)",
    can_inject,           apply,
};
