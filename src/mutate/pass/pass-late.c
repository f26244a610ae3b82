// SPDX-License-Identifier: GPL-3.0-or-later
// Runs after the optimiser and makes references weak that only twins have. A function that is
// called only by code that the optimiser removes need not exist, and kernels rely on that
// (`if (IS_ENABLED(…)) missing();`). A twin keeps such code, since a fault may lead there, and the
// program must link all the same.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <string.h>

#define MOST_DEEP  12
#define MOST_STEPS 10000 // ways through functions that call each other are many

// The values on the path so far, so that the walk does not go in circles.
struct path {
    LLVMValueRef value;
    const struct path *before;
    unsigned length;
    unsigned *left; // steps
};

static bool is_needed(LLVMValueRef value, const struct path *before, unsigned *left);

static bool is_local(LLVMValueRef global)
{
    LLVMLinkage linkage = LLVMGetLinkage(global);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static bool is_twin(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, TWIN_ATTRIBUTE,
                                         sizeof TWIN_ATTRIBUTE - 1) != NULL;
}

static bool is_row(LLVMValueRef variable)
{
    const char *section = LLVMGetSection(variable);
    return section != NULL && strcmp(section, TWIN_SECTION) == 0;
}

static bool is_on(const struct path *path, LLVMValueRef value)
{
    while (path != NULL && path->value != value)
        path = path->before;
    return path != NULL;
}

static bool is_needed_by(LLVMValueRef user, const struct path *path)
{
    if (LLVMIsAInstruction(user) != NULL)
        user = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
    if ((LLVMIsAFunction(user) != NULL && is_twin(user)) || is_on(path, user))
        return false;
    if (LLVMIsAGlobalVariable(user) != NULL && is_row(user))
        return false;
    if (LLVMIsAGlobalValue(user) != NULL && !is_local(user))
        return true;
    return is_needed(user, path, path->left); // also an expression or a part of a table
}

// Whether anything but twins refers to a value. If the path becomes too long, assumes so.
static bool is_needed(LLVMValueRef value, const struct path *before, unsigned *left)
{
    const struct path path = {value, before, before != NULL ? before->length + 1 : 0, left};
    if (path.length > MOST_DEEP || *left == 0)
        return true;
    --*left;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use))
        if (is_needed_by(LLVMGetUser(use), &path))
            return true;
    return false;
}

bool pass_is_needed(LLVMValueRef value)
{
    unsigned left = MOST_STEPS;
    return is_needed(value, NULL, &left);
}

// Whether a symbol is certainly defined somewhere, so that its reference must stay strong. Pristine
// code may have lost its reference although the symbol exists: it was inlined or its value is
// known, the result of the function is not used, or another function of the C library took its
// place, as puts does for printf.
static bool exists(LLVMModuleRef module, LLVMValueRef global)
{
    unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    if (LLVMIsAFunction(global) == NULL)
        return shim_variable_has_mark(global, ELSEWHERE_ATTRIBUTE);
    return shim_is_library_function(module, global) ||
           LLVMGetStringAttributeAtIndex(global, LLVMAttributeFunctionIndex, ELSEWHERE_ATTRIBUTE,
                                         sizeof ELSEWHERE_ATTRIBUTE - 1) != NULL ||
           LLVMGetEnumAttributeAtIndex(global, LLVMAttributeFunctionIndex, memory) != NULL;
}

static bool is_in_name(char letter)
{
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
}

static bool mentions(const char *text, size_t size, const char *name, size_t length)
{
    const char *end = text + size, *at = text;
    while (length != 0 && (at = memmem(at, (size_t)(end - at), name, length)) != NULL) {
        const char *after = at + length;
        if ((at == text || !is_in_name(at[-1])) && (after == end || !is_in_name(*after)))
            return true;
        at++;
    }
    return false;
}

static bool assembly_mentions(LLVMValueRef function, const char *name, size_t length)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction)) {
            if ((LLVMIsACallInst(instruction) == NULL && LLVMIsACallBrInst(instruction) == NULL &&
                 LLVMIsAInvokeInst(instruction) == NULL) ||
                LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)) == NULL)
                continue;
            size_t size;
            const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(instruction), &size);
            if (mentions(text, size, name, length))
                return true;
        }
    return false;
}

// Whether assembly outside of twins contains its name, which LLVM does not count as a use.
static bool is_named(LLVMModuleRef module, LLVMValueRef global)
{
    size_t length, size;
    const char *name = LLVMGetValueName2(global, &length);
    if (length != 0 && *name == '\1') { // LLVM's mark for "do not mangle", not part of the name
        name++;
        length--;
    }
    const char *text = LLVMGetModuleInlineAsm(module, &size);
    if (mentions(text, size, name, length))
        return true;
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function))
        if (!is_twin(function) && assembly_mentions(function, name, length))
            return true;
    return false;
}

static void relax(LLVMModuleRef module, LLVMValueRef global)
{
    if (LLVMIsDeclaration(global) && LLVMGetLinkage(global) == LLVMExternalLinkage &&
        LLVMGetFirstUse(global) != NULL && !exists(module, global) && !pass_is_needed(global) &&
        !is_named(module, global))
        shim_make_optional(global);
}

void pass_finish(LLVMModuleRef module)
{
    if (LLVMGetNamedMetadata(module, "ordeal", 6) == NULL)
        return;
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function))
        if (LLVMGetIntrinsicID(function) == 0)
            relax(module, function);
    for (LLVMValueRef variable = LLVMGetFirstGlobal(module); variable != NULL;
         variable = LLVMGetNextGlobal(variable))
        if (!LLVMIsThreadLocal(variable))
            relax(module, variable);
}
