// SPDX-License-Identifier: GPL-3.0-or-later
// Another operator than the one that is meant.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return LLVMIsABinaryOperator(place->instruction) != NULL &&
           (fault_is_integer(place->instruction) ||
            LLVMGetTypeKind(LLVMTypeOf(place->instruction)) == LLVMFloatTypeKind ||
            LLVMGetTypeKind(LLVMTypeOf(place->instruction)) == LLVMDoubleTypeKind);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    static const LLVMOpcode whole[] = {LLVMAdd, LLVMSub, LLVMMul, LLVMAnd, LLVMOr, LLVMXor};
    static const LLVMOpcode real[] = {LLVMFAdd, LLVMFSub, LLVMFMul, LLVMFDiv};
    bool integer = fault_is_integer(instruction);
    const LLVMOpcode *choice = integer ? whole : real;
    size_t count = integer ? sizeof whole / sizeof *whole : sizeof real / sizeof *real;
    size_t at = edit->random % count;
    if (choice[at] == LLVMGetInstructionOpcode(instruction))
        at = (at + 1) % count;
    LLVMValueRef other = LLVMBuildBinOp(edit->builder, choice[at], LLVMGetOperand(instruction, 0),
                                        LLVMGetOperand(instruction, 1), "");
    fault_replace(instruction, other);
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_corrupt_operator = {
    ORDEAL_FAULT_VERSION, "corrupt-operator",
    "algorithm",          "replace binary operator with random operator",
    can_inject,           apply,
};
