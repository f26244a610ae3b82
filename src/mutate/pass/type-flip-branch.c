// SPDX-License-Identifier: GPL-3.0-or-later
// The branch goes the other way.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef branch = place->instruction;
    return LLVMIsABranchInst(branch) != NULL && LLVMIsConditional(branch);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMBasicBlockRef first = LLVMGetSuccessor(instruction, 0);
    LLVMSetSuccessor(instruction, 0, LLVMGetSuccessor(instruction, 1));
    LLVMSetSuccessor(instruction, 1, first);
}

const struct fault_type type_flip_branch = {
    ORDEAL_FAULT_VERSION, "flip-branch",
    "checking",           "negate controlling value for conditional branch",
    can_inject,           apply,
};
