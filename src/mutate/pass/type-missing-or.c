// SPDX-License-Identifier: GPL-3.0-or-later
// MLOC: of two conditions either of which is enough, one is not checked.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef branch = place->instruction;
    if (LLVMIsABranchInst(branch) == NULL || !LLVMIsConditional(branch))
        return false;
    LLVMValueRef second = LLVMGetBasicBlockTerminator(LLVMGetSuccessor(branch, 1));
    return LLVMIsABranchInst(second) != NULL && LLVMIsConditional(second) && second != branch &&
           LLVMGetSuccessor(second, 0) == LLVMGetSuccessor(branch, 0);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction, fault_unknown(edit, LLVMInt1TypeInContext(edit->context), 0));
}

const struct fault_type type_missing_or = {
    ORDEAL_FAULT_VERSION, "missing-or",
    "checking",           "remove first operand of || in condition (MLOC)",
    can_inject,           apply,
};
