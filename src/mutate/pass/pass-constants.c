// SPDX-License-Identifier: GPL-3.0-or-later
// Finds code that compiles only if the optimiser can work out a constant: operands of inline
// assembly that must be immediate, and calls that must be optimised away
// (`__attribute__((error))`). Kernels are full of both. A fault would make the constant unknown, so
// such functions get no faults, and such calls are removed from faulty code.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <string.h>

// Parameters that must be constant after inlining, as bits. SELF: one of the function's own
// variables must be constant, so the function cannot be touched.
#define SELF ((uint64_t)1 << 63)

static uint64_t trace(LLVMValueRef value, unsigned depth);

// The parameter that a local variable holds; SELF if it may hold anything else.
static uint64_t trace_variable(LLVMValueRef room)
{
    uint64_t found = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(room); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAStoreInst(user) == NULL || LLVMGetOperand(user, 1) != room)
            continue;
        LLVMValueRef value = LLVMGetOperand(user, 0);
        found |= LLVMIsAArgument(value) != NULL ? trace(value, 0) : SELF;
    }
    return found != 0 ? found : SELF;
}

static uint64_t trace(LLVMValueRef value, unsigned depth)
{
    if (LLVMIsAConstant(value) != NULL)
        return 0;
    if (LLVMIsAArgument(value) != NULL) {
        LLVMValueRef function = LLVMGetParamParent(value);
        for (unsigned i = 0; i < LLVMCountParams(function) && i < 63; i++)
            if (LLVMGetParam(function, i) == value)
                return (uint64_t)1 << i;
        return SELF;
    }
    if (LLVMIsALoadInst(value) != NULL) {
        LLVMValueRef room = LLVMGetOperand(value, 0);
        return LLVMIsAAllocaInst(room) != NULL ? trace_variable(room) : SELF;
    }
    bool computed = LLVMIsACastInst(value) != NULL || LLVMIsABinaryOperator(value) != NULL ||
                    LLVMIsAGetElementPtrInst(value) != NULL || LLVMIsACmpInst(value) != NULL;
    if (!computed || depth > 6)
        return SELF;
    uint64_t found = 0;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        found |= trace(LLVMGetOperand(value, (unsigned)i), depth + 1);
    return found;
}

// Whether a constraint allows only an immediate: no letter in it stands for a register or for
// memory.
static bool is_immediate(const char *constraint, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (strchr("rmgqQRabcdSDAxXyYtufovVpkl<>*{0123456789", constraint[i]) != NULL)
            return false;
    return size > 0;
}

static uint64_t needed_by_assembly(LLVMValueRef call, LLVMValueRef assembly)
{
    size_t size;
    uint64_t found = 0;
    unsigned argument = 0;
    const char *at = LLVMGetInlineAsmConstraintString(assembly, &size), *end = at + size;
    while (at < end && argument < LLVMGetNumArgOperands(call)) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t length = (size_t)((comma != NULL ? comma : end) - at);
        bool output = *at == '=', other = *at == '~' || *at == '!';
        if (!other && (!output || memchr(at, '*', length) != NULL)) {
            if (!output && is_immediate(at, length))
                found |= trace(LLVMGetOperand(call, argument), 0);
            argument++;
        }
        at += length + 1;
    }
    return found;
}

static LLVMValueRef called_function(LLVMValueRef instruction)
{
    return LLVMIsACallInst(instruction) != NULL ? LLVMIsAFunction(LLVMGetCalledValue(instruction))
                                                : NULL;
}

static uint64_t needed_by(struct pass *pass, LLVMValueRef instruction)
{
    if (LLVMIsACallInst(instruction) == NULL && LLVMIsACallBrInst(instruction) == NULL)
        return 0;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(callee) != NULL)
        return needed_by_assembly(instruction, callee);
    const struct pass_function *called =
        LLVMIsAFunction(callee) != NULL ? pass_function_of(pass, callee) : NULL;
    uint64_t found = 0;
    for (unsigned i = 0; called != NULL && i < LLVMGetNumArgOperands(instruction) && i < 63; i++)
        if ((called->needs_constant & ((uint64_t)1 << i)) != 0)
            found |= trace(LLVMGetOperand(instruction, i), 0);
    return found;
}

// A function that first asks whether a value is constant also works if it is not.
static uint64_t asked_for(LLVMValueRef instruction)
{
    LLVMValueRef callee = called_function(instruction);
    size_t size;
    if (callee == NULL || strncmp(LLVMGetValueName2(callee, &size), "llvm.is.constant", 16) != 0)
        return 0;
    return trace(LLVMGetOperand(instruction, 0), 0);
}

static bool look(struct pass *pass, struct pass_function *subject)
{
    uint64_t needed = 0, asked = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(subject->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction)) {
            needed |= needed_by(pass, instruction);
            asked |= asked_for(instruction);
        }
    subject->untouchable |= needed != 0;
    needed &= ~(asked | SELF);
    bool changed = needed != subject->needs_constant;
    subject->needs_constant = needed;
    return changed;
}

void pass_find_constants(struct pass *pass)
{
    bool changed = true;
    for (unsigned round = 0; changed && round < 16; round++) {
        changed = false;
        for (size_t i = 0; i < pass->functions.count; i++)
            changed |= look(pass, &pass->functions.items[i]);
    }
}

// ---- calls that must not be left over ----

static bool is_forbidden(LLVMValueRef callee)
{
    static const char *const names[] = {"dontcall-error", "dontcall-warn"};
    for (int i = 0; i < 2; i++)
        if (LLVMGetStringAttributeAtIndex(callee, LLVMAttributeFunctionIndex, names[i],
                                          (unsigned)strlen(names[i])) != NULL)
            return true;
    return false;
}

bool pass_is_fixed(struct pass *pass, LLVMValueRef instruction)
{
    LLVMValueRef callee = called_function(instruction);
    if (callee == NULL)
        return false;
    const struct pass_function *called = pass_function_of(pass, callee);
    return is_forbidden(callee) || (called != NULL && called->needs_constant != 0);
}

bool pass_has_forbidden(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef call = LLVMGetFirstInstruction(block); call != NULL;
             call = LLVMGetNextInstruction(call)) {
            LLVMValueRef callee = called_function(call);
            if (callee != NULL && is_forbidden(callee))
                return true;
        }
    return false;
}

void pass_drop_forbidden(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef next, call = LLVMGetFirstInstruction(block); call != NULL; call = next) {
            next = LLVMGetNextInstruction(call);
            LLVMValueRef callee = called_function(call);
            if (callee == NULL || !is_forbidden(callee))
                continue;
            if (LLVMGetFirstUse(call) != NULL)
                LLVMReplaceAllUsesWith(call, LLVMGetUndef(LLVMTypeOf(call)));
            LLVMInstructionEraseFromParent(call);
        }
}
