// SPDX-License-Identifier: GPL-3.0-or-later
// MLPA: a small part of the algorithm is missing.
#include "mutate/pass/types.h"

static bool is_statement(LLVMValueRef instruction)
{
    if (LLVMGetInstructionOpcode(instruction) == LLVMStore)
        return !fault_is_spill(instruction);
    return fault_is_removable_call(instruction) && LLVMGetFirstUse(instruction) == NULL;
}

static LLVMValueRef next_statement(LLVMValueRef instruction)
{
    do
        instruction = LLVMGetNextInstruction(instruction);
    while (instruction != NULL && !is_statement(instruction));
    return instruction;
}

static bool can_inject(const struct fault_place *place)
{
    return is_statement(place->instruction) && next_statement(place->instruction) != NULL;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    uint64_t left = next_statement(instruction) != NULL ? 2 + edit->random % 4 : 0;
    while (instruction != NULL && left-- != 0) {
        LLVMValueRef next = next_statement(instruction);
        LLVMInstructionEraseFromParent(instruction);
        instruction = next;
    }
}

const struct fault_type type_missing_part = {
    ORDEAL_FAULT_VERSION, "missing-part",
    "algorithm",          "remove two to five statements in a row (MLPA)",
    can_inject,           apply,
};
