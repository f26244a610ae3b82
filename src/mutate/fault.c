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

// ---- operations ----

// What a sanitizer makes of operators that may overflow; signed and unsigned.
static const struct checked {
    LLVMOpcode opcode;
    const char *names[2];
} checked[] = {
    {LLVMAdd, {"llvm.sadd.with.overflow", "llvm.uadd.with.overflow"}},
    {LLVMSub, {"llvm.ssub.with.overflow", "llvm.usub.with.overflow"}},
    {LLVMMul, {"llvm.smul.with.overflow", "llvm.umul.with.overflow"}},
};
#define MOST_OPERATORS 100 // one in the other; more are not followed

static const struct checked *find_checked(LLVMOpcode opcode)
{
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
        if (checked[i].opcode == opcode)
            return &checked[i];
    return NULL;
}

// The opcode of a call that tells of overflow, 0 if it is none; and whether it is unsigned.
static LLVMOpcode checked_opcode(LLVMValueRef call, bool *ret_unsigned)
{
    if (LLVMIsAIntrinsicInst(call) == NULL)
        return 0;
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
        for (int j = 0; j < 2; j++)
            if (fault_calls(call, (const char *const[]){checked[i].names[j], NULL})) {
                *ret_unsigned = j != 0;
                return checked[i].opcode;
            }
    return 0;
}

bool fault_is_of_sanitizer(LLVMValueRef instruction)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    unsigned kind = LLVMGetMDKindIDInContext(context, "nosanitize", strlen("nosanitize"));
    return LLVMGetMetadata(instruction, kind) != NULL;
}

static bool is_value_of(LLVMValueRef user)
{
    return LLVMIsAExtractValueInst(user) != NULL && *LLVMGetIndices(user) == 0;
}

// Whether the program's own code uses the value. Checks of pointers multiply and add, too.
static bool is_programmers(LLVMValueRef call, unsigned depth)
{
    bool is_unsigned;
    if (depth == MOST_OPERATORS)
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(call); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef value = LLVMGetUser(use);
        if (!is_value_of(value))
            continue;
        for (LLVMUseRef of = LLVMGetFirstUse(value); of != NULL; of = LLVMGetNextUse(of)) {
            LLVMValueRef user = LLVMGetUser(of);
            if (!fault_is_of_sanitizer(user) ||
                (checked_opcode(user, &is_unsigned) != 0 && is_programmers(user, depth + 1)))
                return true;
        }
    }
    return false;
}

LLVMOpcode fault_operation(LLVMValueRef instruction)
{
    bool is_unsigned;
    if (LLVMIsABinaryOperator(instruction) != NULL)
        return fault_is_of_sanitizer(instruction) ? 0 : LLVMGetInstructionOpcode(instruction);
    LLVMOpcode opcode = checked_opcode(instruction, &is_unsigned);
    bool own = opcode != 0 && fault_is_of_sanitizer(instruction) && is_programmers(instruction, 0);
    return own ? opcode : 0;
}

LLVMValueRef fault_build_operation(struct fault_edit *edit, LLVMValueRef operation,
                                   LLVMOpcode opcode, LLVMValueRef first, LLVMValueRef second)
{
    bool is_unsigned = false;
    if (checked_opcode(operation, &is_unsigned) == 0)
        return LLVMBuildBinOp(edit->builder, opcode, first, second, "");
    LLVMTypeRef type = LLVMTypeOf(first);
    const struct checked *other = find_checked(opcode);
    if (other == NULL) { // cannot overflow
        LLVMValueRef value = LLVMBuildBinOp(edit->builder, opcode, first, second, "");
        return LLVMBuildInsertValue(edit->builder, LLVMConstNull(LLVMTypeOf(operation)), value, 0,
                                    "");
    }
    const char *name = other->names[is_unsigned];
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    return LLVMBuildCall2(edit->builder, LLVMIntrinsicGetType(edit->context, id, &type, 1),
                          LLVMGetIntrinsicDeclaration(edit->module, id, &type, 1),
                          (LLVMValueRef[]){first, second}, 2, "");
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
