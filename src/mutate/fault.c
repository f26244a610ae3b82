// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers for fault types: questions about instructions, and changes that several types make.
#include "mutate/fault.h"

#include <string.h>

bool fault_is_integer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 1 &&
           LLVMGetIntTypeWidth(type) <= 64;
}

bool fault_is_boolean(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

const char *fault_callee(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode != LLVMCall && opcode != LLVMInvoke)
        return "";
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    size_t size;
    return callee != NULL ? LLVMGetValueName2(callee, &size) : "";
}

bool fault_calls(LLVMValueRef instruction, const char *const *names)
{
    const char *callee = fault_callee(instruction);
    for (; *names != NULL; names++) {
        size_t size = strlen(*names);
        // "llvm.memcpy" stands for all its types
        bool intrinsic = strncmp(*names, "llvm.", 5) == 0;
        if (strncmp(callee, *names, size) == 0 &&
            (callee[size] == '\0' || (intrinsic && callee[size] == '.')))
            return true;
    }
    return false;
}

bool fault_is_local(LLVMValueRef pointer)
{
    return LLVMIsAAllocaInst(pointer) != NULL;
}

bool fault_is_spill(LLVMValueRef store)
{
    return LLVMIsAArgument(LLVMGetOperand(store, 0)) != NULL &&
           LLVMIsAAllocaInst(LLVMGetOperand(store, 1)) != NULL &&
           LLVMGetInstructionParent(store) ==
               LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(store)));
}

bool fault_is_plain_call(LLVMValueRef call)
{
    return LLVMIsAIntrinsicInst(call) == NULL && LLVMIsAInlineAsm(LLVMGetCalledValue(call)) == NULL;
}

static LLVMValueRef hide(struct fault_edit *edit, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef assembly =
        LLVMGetInlineAsm(function, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(edit->builder, function, assembly, &value, 1, "");
}

LLVMValueRef fault_unknown(struct fault_edit *edit, LLVMTypeRef type, uint64_t value)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(edit->context);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(edit->builder, hide(edit, LLVMConstInt(word, value, false)), type,
                                 "");
    if (kind == LLVMIntegerTypeKind)
        return LLVMBuildIntCast2(edit->builder, hide(edit, LLVMConstInt(word, value, false)), type,
                                 false, "");
    if (kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind)
        return LLVMBuildUIToFP(edit->builder, hide(edit, LLVMConstInt(word, value, false)), type,
                               "");
    return LLVMConstNull(type);
}

void fault_replace(LLVMValueRef instruction, LLVMValueRef value)
{
    LLVMReplaceAllUsesWith(instruction, value);
}

void fault_remove(LLVMValueRef instruction, struct fault_edit *edit)
{
    if (LLVMGetFirstUse(instruction) != NULL)
        fault_replace(instruction, fault_unknown(edit, LLVMTypeOf(instruction), 0));
    LLVMInstructionEraseFromParent(instruction);
}

bool fault_is_removable_call(LLVMValueRef instruction)
{
    return LLVMGetInstructionOpcode(instruction) == LLVMCall && fault_is_plain_call(instruction) &&
           LLVMGetTailCallKind(instruction) != LLVMTailCallKindMustTail;
}
