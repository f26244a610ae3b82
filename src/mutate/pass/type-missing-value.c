// SPDX-License-Identifier: GPL-3.0-or-later
// MVAV: a variable that had a value before is not given a new one.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef store = place->instruction;
    return fault_is_assignment(store) && LLVMIsAConstant(LLVMGetOperand(store, 0)) != NULL &&
           !fault_is_first_store(store);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_missing_value = {
    ORDEAL_FAULT_VERSION, "missing-value",
    "assignment",         "remove assignment of a value to a local variable (MVAV)",
    can_inject,           apply,
};
