// SPDX-License-Identifier: GPL-3.0-or-later
// Operands in the wrong order, where the order matters.
#include "mutate/pass/types.h"

static bool commutes(LLVMOpcode opcode)
{
    return opcode == LLVMAdd || opcode == LLVMMul || opcode == LLVMAnd || opcode == LLVMOr ||
           opcode == LLVMXor || opcode == LLVMFAdd || opcode == LLVMFMul;
}

static bool can_inject(const struct fault_place *place)
{
    LLVMValueRef operation = place->instruction;
    LLVMOpcode opcode = fault_operation(operation);
    return opcode != 0 && !commutes(opcode) &&
           LLVMGetOperand(operation, 0) != LLVMGetOperand(operation, 1);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMValueRef first = LLVMGetOperand(instruction, 0);
    LLVMSetOperand(instruction, 0, LLVMGetOperand(instruction, 1));
    LLVMSetOperand(instruction, 1, first);
}

const struct fault_type type_swap = {
    ORDEAL_FAULT_VERSION, "swap", "algorithm", "swap operands of binary operation",
    can_inject,           apply,
};
