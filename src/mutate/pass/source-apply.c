// SPDX-License-Identifier: GPL-3.0-or-later
// The types of the model, and how their faults are made. Most of them jump: the code goes on
// somewhere else than at the statement, condition or operand that is missing.
#include "mutate/pass/source.h"

#include <string.h>

// Removes the instructions from the end of a block up to and with one.
static void cut(LLVMValueRef first)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(first);
    for (LLVMValueRef at = LLVMGetLastInstruction(block), before; at != NULL; at = before) {
        bool done = at == first;
        before = LLVMGetPreviousInstruction(at);
        if (LLVMGetFirstUse(at) != NULL)
            LLVMReplaceAllUsesWith(at, LLVMGetPoison(LLVMTypeOf(at)));
        LLVMInstructionEraseFromParent(at);
        if (done)
            break;
    }
}

static void jump(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(edit->builder);
    cut(instruction);
    LLVMPositionBuilderAtEnd(edit->builder, block);
    LLVMSetCurrentDebugLocation2(edit->builder, place);
    LLVMBuildBr(edit->builder, edit->place->target);
}

// An operand of a condition becomes a constant; what computes it goes.
static void fix_value(LLVMValueRef instruction, struct fault_edit *edit)
{
    unsigned mark = LLVMGetMDKindIDInContext(edit->context, "ordeal.value", 12);
    LLVMValueRef value = instruction;
    while (value != NULL && LLVMGetMetadata(value, mark) == NULL)
        value = LLVMGetNextInstruction(value);
    if (value == NULL)
        return;
    bool or = (edit->place->flags & SOURCE_OR) != 0;
    fault_replace(value, fault_unknown(edit, LLVMTypeOf(value), or ? 0 : 1));
    for (LLVMValueRef at = value, before;; at = before) {
        bool done = at == instruction;
        before = LLVMGetPreviousInstruction(at);
        if (LLVMGetFirstUse(at) == NULL)
            LLVMInstructionEraseFromParent(at);
        if (done)
            break;
    }
}

static void change_value(LLVMValueRef store, struct fault_edit *edit)
{
    LLVMValueRef value = LLVMGetOperand(store, 0);
    uint64_t right = LLVMConstIntGetZExtValue(value);
    uint64_t wrong = (edit->place->flags & SOURCE_TRUTH) != 0 ? right == 0 : right + 1;
    LLVMSetOperand(store, 0, LLVMConstInt(LLVMTypeOf(value), wrong, false));
}

static void change_variable(LLVMValueRef load, struct fault_edit *edit)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(load));
    for (LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)); at != NULL;
         at = LLVMGetNextInstruction(at)) {
        size_t size;
        if (LLVMIsAAllocaInst(at) == NULL ||
            strcmp(LLVMGetValueName2(at, &size), edit->place->other) != 0)
            continue;
        LLVMSetOperand(load, 0, at);
        return;
    }
}

static void change_operator(LLVMValueRef operation, struct fault_edit *edit)
{
    LLVMValueRef first = LLVMGetOperand(operation, 0), second = LLVMGetOperand(operation, 1);
    LLVMOpcode right = fault_operation(operation);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(first));
    bool real = kind != LLVMIntegerTypeKind;
    LLVMOpcode wrong = real ? LLVMFAdd : LLVMAdd;
    if (right == LLVMFAdd) {
        wrong = LLVMFMul;
    } else if (right == LLVMAdd) {
        bool constant = LLVMIsConstant(first) != 0;
        wrong = constant || LLVMIsConstant(second) ? LLVMSub : LLVMOr;
        if (constant) { // it is what is subtracted
            LLVMValueRef other = second;
            second = first;
            first = other;
        }
    }
    fault_replace(operation, fault_build_operation(edit, operation, wrong, first, second));
    LLVMInstructionEraseFromParent(operation);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    switch ((enum source_how)edit->place->how) {
    case SOURCE_NO_STORE:
        LLVMInstructionEraseFromParent(instruction);
        break;
    case SOURCE_WRONG:
        change_value(instruction, edit);
        break;
    case SOURCE_VARIABLE:
        change_variable(instruction, edit);
        break;
    case SOURCE_OPERATOR:
        change_operator(instruction, edit);
        break;
    default:
        if (edit->place->value != NULL)
            fix_value(instruction, edit);
        else
            jump(instruction, edit);
        break;
    }
}

// They are found in the source.
static bool can_inject(const struct fault_place *place)
{
    return false;
}

struct fault_type field_types[MODEL_KINDS];

void field_types_fill(void)
{
    for (int i = 0; i < MODEL_KINDS; i++)
        field_types[i] = (struct fault_type){
            .version = ORDEAL_FAULT_VERSION,
            .name = model_types[i].name,
            .odc = model_types[i].odc,
            .description = model_types[i].description,
            .can_inject = can_inject,
            .apply = apply,
        };
}
