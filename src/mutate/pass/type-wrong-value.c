// SPDX-License-Identifier: GPL-3.0-or-later
// WVAV: a variable begins with another value than the one that is meant.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef store = place->instruction;
    return fault_is_assignment(store) && LLVMIsAConstantInt(LLVMGetOperand(store, 0)) != NULL &&
           fault_is_integer(LLVMGetOperand(store, 0)) && fault_is_first_store(store);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    uint64_t other = LLVMConstIntGetZExtValue(value) + 1 + edit->random % 7;
    LLVMSetOperand(instruction, 0, LLVMConstInt(LLVMTypeOf(value), other, false));
}

const struct fault_type type_wrong_value = {
    ORDEAL_FAULT_VERSION, "wrong-value",
    "assignment",         "assign wrong value to local variable (WVAV)",
    can_inject,           apply,
};
