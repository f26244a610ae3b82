// SPDX-License-Identifier: GPL-3.0-or-later
// MFC: a call whose result nobody uses is forgotten. It must not be all that the block does.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef call = place->instruction;
    if (!fault_is_removable_call(call) || LLVMGetFirstUse(call) != NULL)
        return false;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
    return LLVMGetFirstInstruction(block) != call ||
           LLVMGetNextInstruction(call) != LLVMGetBasicBlockTerminator(block);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    fault_remove(instruction, edit);
}

const struct fault_type type_missing_call = {
    ORDEAL_FAULT_VERSION, "missing-call",
    "algorithm",          "remove function call whose result is not used (MFC)",
    can_inject,           apply,
};
