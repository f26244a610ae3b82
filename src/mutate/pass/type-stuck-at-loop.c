// SPDX-License-Identifier: GPL-3.0-or-later
// The loop always goes on, or always ends.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef branch = place->instruction;
    return LLVMIsABranchInst(branch) != NULL && LLVMIsConditional(branch) && place->decides_loop;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction,
                     fault_unknown(edit, LLVMInt1TypeInContext(edit->context), edit->random % 2));
}

const struct fault_type type_stuck_at_loop = {
    ORDEAL_FAULT_VERSION, "stuck-at-loop", "checking", "fixed controlling value for loop",
    can_inject,           apply,
};
