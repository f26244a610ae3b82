// SPDX-License-Identifier: GPL-3.0-or-later
// Another operator than the one that is meant.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    if (fault_operation(place->instruction) == 0)
        return false;
    LLVMValueRef first = LLVMGetOperand(place->instruction, 0);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(first));
    return fault_is_integer(first) || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    static const LLVMOpcode whole[] = {LLVMAdd, LLVMSub, LLVMMul, LLVMAnd, LLVMOr, LLVMXor};
    static const LLVMOpcode real[] = {LLVMFAdd, LLVMFSub, LLVMFMul, LLVMFDiv};
    LLVMValueRef first = LLVMGetOperand(instruction, 0), second = LLVMGetOperand(instruction, 1);
    bool integer = fault_is_integer(first);
    const LLVMOpcode *choice = integer ? whole : real;
    size_t count = integer ? sizeof whole / sizeof *whole : sizeof real / sizeof *real;
    size_t at = edit->random % count;
    if (choice[at] == fault_operation(instruction))
        at = (at + 1) % count;
    fault_replace(instruction, fault_build_operation(edit, instruction, choice[at], first, second));
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_corrupt_operator = {
    ORDEAL_FAULT_VERSION, "corrupt-operator",
    "algorithm",          "replace binary operator with random operator",
    can_inject,           apply,
};
