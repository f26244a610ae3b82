// SPDX-License-Identifier: GPL-3.0-or-later
// MVIV: a variable is not given its first value.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef store = place->instruction;
    return fault_is_assignment(store) && LLVMIsAConstant(LLVMGetOperand(store, 0)) != NULL &&
           fault_is_first_store(store) && place->loop_depth == 0;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_missing_init = {
    ORDEAL_FAULT_VERSION, "missing-init",
    "assignment",         "remove initialisation of a local variable with a value (MVIV)",
    can_inject,           apply,
};
