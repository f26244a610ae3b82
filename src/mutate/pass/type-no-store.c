// SPDX-License-Identifier: GPL-3.0-or-later
// An assignment is forgotten.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return LLVMGetInstructionOpcode(place->instruction) == LLVMStore &&
           !fault_is_spill(place->instruction);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_no_store = {
    ORDEAL_FAULT_VERSION, "no-store", "assignment", "remove store operation", can_inject, apply,
};
