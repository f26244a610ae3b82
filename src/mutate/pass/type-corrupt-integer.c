// SPDX-License-Identifier: GPL-3.0-or-later
// A number that is one too large or too small.
#include "mutate/pass/types.h"

// One of the operands that are integers; -1 if there is none.
static int pick(LLVMValueRef instruction, uint64_t random)
{
    bool operation = fault_operation(instruction) != 0 || LLVMIsAICmpInst(instruction) != NULL;
    bool call = LLVMIsACallInst(instruction) != NULL && fault_is_plain_call(instruction);
    if (!operation && !call)
        return -1;
    bool called = LLVMIsACallInst(instruction) != NULL;
    int count = called ? (int)LLVMGetNumArgOperands(instruction) : LLVMGetNumOperands(instruction);
    int found = 0;
    for (int i = 0; i < count; i++)
        found += fault_is_integer(LLVMGetOperand(instruction, (unsigned)i));
    if (found == 0)
        return -1;
    int wanted = (int)(random % (uint64_t)found);
    for (int i = 0; i < count; i++)
        if (fault_is_integer(LLVMGetOperand(instruction, (unsigned)i)) && wanted-- == 0)
            return i;
    return -1;
}

static bool can_inject(const struct fault_place *place)
{
    return pick(place->instruction, 0) >= 0;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    unsigned at = (unsigned)pick(instruction, edit->random >> 1);
    LLVMValueRef value = LLVMGetOperand(instruction, at);
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(value), 1, false);
    LLVMSetOperand(instruction, at,
                   edit->random % 2 != 0 ? LLVMBuildAdd(edit->builder, value, one, "")
                                         : LLVMBuildSub(edit->builder, value, one, ""));
}

const struct fault_type type_corrupt_integer = {
    ORDEAL_FAULT_VERSION, "corrupt-integer",
    "assignment",         "off-by-one error in integer operand",
    can_inject,           apply,
};
