// SPDX-License-Identifier: GPL-3.0-or-later
// Anything is read in place of what is in memory.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(place->instruction));
    return LLVMGetInstructionOpcode(place->instruction) == LLVMLoad &&
           LLVMGetFirstUse(place->instruction) != NULL &&
           (fault_is_integer(place->instruction) || kind == LLVMPointerTypeKind ||
            kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    fault_replace(instruction, fault_unknown(edit, type, edit->random));
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_random_load = {
    ORDEAL_FAULT_VERSION, "random-load",
    "assignment",         "load random number instead of intended value",
    can_inject,           apply,
};
