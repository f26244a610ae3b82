// SPDX-License-Identifier: GPL-3.0-or-later
// Zero is read in place of what is in memory.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return LLVMGetInstructionOpcode(place->instruction) == LLVMLoad &&
           LLVMGetFirstUse(place->instruction) != NULL;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    fault_remove(instruction, edit);
}

const struct fault_type type_no_load = {
    ORDEAL_FAULT_VERSION, "no-load", "assignment", "load zero instead of intended value",
    can_inject,           apply,
};
