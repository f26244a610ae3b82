// SPDX-License-Identifier: GPL-3.0-or-later
// MLAC: of two conditions that must both hold, one is not checked.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef branch = place->instruction;
    if (LLVMIsABranchInst(branch) == NULL || !LLVMIsConditional(branch))
        return false;
    LLVMValueRef second = LLVMGetBasicBlockTerminator(LLVMGetSuccessor(branch, 0));
    return LLVMIsABranchInst(second) != NULL && LLVMIsConditional(second) && second != branch &&
           LLVMGetSuccessor(second, 1) == LLVMGetSuccessor(branch, 1);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction, fault_unknown(edit, LLVMInt1TypeInContext(edit->context), 1));
}

const struct fault_type type_missing_and = {
    ORDEAL_FAULT_VERSION, "missing-and",
    "checking",           "remove first operand of && in condition (MLAC)",
    can_inject,           apply,
};
