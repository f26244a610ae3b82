// SPDX-License-Identifier: GPL-3.0-or-later
// The opposite of what a comparison or logical operation says.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return fault_is_boolean(place->instruction) &&
           (LLVMIsAICmpInst(place->instruction) != NULL ||
            LLVMIsAFCmpInst(place->instruction) != NULL ||
            LLVMIsABinaryOperator(place->instruction) != NULL);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMPositionBuilderBefore(edit->builder, LLVMGetNextInstruction(instruction));
    LLVMValueRef opposite = LLVMBuildNot(edit->builder, instruction, "");
    fault_replace(instruction, opposite);
    LLVMSetOperand(opposite, 0, instruction);
}

const struct fault_type type_flip_bool = {
    ORDEAL_FAULT_VERSION, "flip-bool", "checking", "negate result of boolean operation",
    can_inject,           apply,
};
