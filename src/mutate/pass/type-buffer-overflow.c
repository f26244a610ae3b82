// SPDX-License-Identifier: GPL-3.0-or-later
// A copy is longer than what it copies, or than where it goes.
#include "mutate/pass/types.h"

static const char *const sized[] = {
    "llvm.memcpy", "llvm.memmove", "llvm.memset",   "memcpy",       "memmove",       "memset",
    "strncpy",     "__memcpy_chk", "__memmove_chk", "__memset_chk", "__strncpy_chk", NULL,
};
static const char *const unsized[] = {"strcpy", "__strcpy_chk", NULL};

static bool can_inject(const struct fault_place *place)
{
    return fault_calls(place->instruction, sized) || fault_calls(place->instruction, unsized);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(edit->context);
    LLVMValueRef extra = fault_unknown(edit, word, 1 + edit->random % 16);
    if (fault_calls(instruction, sized)) {
        LLVMValueRef size = LLVMGetOperand(instruction, 2);
        extra = LLVMBuildIntCast2(edit->builder, extra, LLVMTypeOf(size), false, "");
        LLVMSetOperand(instruction, 2, LLVMBuildAdd(edit->builder, size, extra, ""));
        return;
    }
    // A string copy has no size to enlarge: copy as many bytes as the string has, and some more.
    LLVMValueRef target = LLVMGetOperand(instruction, 0), source = LLVMGetOperand(instruction, 1);
    LLVMTypeRef pointer = LLVMTypeOf(source);
    LLVMTypeRef type = LLVMFunctionType(word, &pointer, 1, false);
    LLVMValueRef length = LLVMGetNamedFunction(edit->module, "strlen");
    if (length == NULL)
        length = LLVMAddFunction(edit->module, "strlen", type);
    LLVMValueRef size = LLVMBuildCall2(edit->builder, type, length, &source, 1, "");
    size = LLVMBuildAdd(edit->builder, size, LLVMConstInt(word, 1, false), "");
    size = LLVMBuildAdd(edit->builder, size, extra, "");
    LLVMBuildMemMove(edit->builder, target, 1, source, 1, size);
    fault_replace(instruction, target);
    LLVMInstructionEraseFromParent(instruction);
}

const struct fault_type type_buffer_overflow = {
    ORDEAL_FAULT_VERSION, "buffer-overflow",
    "checking",           "size too large in memory operation",
    can_inject,           apply,
};
