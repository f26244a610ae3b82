// SPDX-License-Identifier: GPL-3.0-or-later
// MVAE: the result of an expression is not assigned to the variable.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef store = place->instruction;
    return fault_is_assignment(store) && LLVMIsAConstant(LLVMGetOperand(store, 0)) == NULL &&
           !fault_is_first_store(store);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_missing_expression = {
    ORDEAL_FAULT_VERSION, "missing-expression",
    "assignment",         "remove assignment of an expression to a local variable (MVAE)",
    can_inject,           apply,
};
