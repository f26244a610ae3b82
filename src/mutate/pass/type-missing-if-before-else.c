// SPDX-License-Identifier: GPL-3.0-or-later
// MIEB: the `if` and its statements are missing, and only the statements after `else` are left.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef branch = place->instruction;
    if (LLVMIsABranchInst(branch) == NULL || !LLVMIsConditional(branch) || place->decides_loop)
        return false;
    LLVMBasicBlockRef end = fault_only_successor(LLVMGetSuccessor(branch, 0));
    return end != NULL && fault_only_successor(LLVMGetSuccessor(branch, 1)) == end;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction, fault_unknown(edit, LLVMInt1TypeInContext(edit->context), 0));
}

const struct fault_type type_missing_if_before_else = {
    ORDEAL_FAULT_VERSION, "missing-if-before-else",
    "algorithm",          "remove if and its statements, keep those of else (MIEB)",
    can_inject,           apply,
};
