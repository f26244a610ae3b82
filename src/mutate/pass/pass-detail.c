// SPDX-License-Identifier: GPL-3.0-or-later
// What an instruction works on, told as a programmer would: "count = n + 1", "p->next != NULL".
// Built from names that the compiler leaves on values before it optimises.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <stdio.h>
#include <string.h>

#define LONGEST    60 // bytes
#define SHOWN_TEXT 20 // bytes of a string
#define DEEPEST    4

struct teller {
    char text[LONGEST + 1];
    size_t size;
};

static void put(struct teller *teller, const char *text)
{
    size_t size = strlen(text), room = LONGEST - teller->size;
    memcpy(teller->text + teller->size, text, size < room ? size : room);
    teller->size += size < room ? size : room;
}

// Intrinsics without the types in their names: llvm.memcpy.p0.p0.i64
static void put_name(struct teller *teller, LLVMValueRef value)
{
    char name[64];
    shim_name(value, name, sizeof name);
    if (strncmp(name, "llvm.", 5) == 0) {
        name[5 + strcspn(name + 5, ".")] = '\0';
        put(teller, name + 5);
        return;
    }
    put(teller, *name != '\0' ? name : "_");
}

static const char *sign_of(LLVMOpcode opcode)
{
    static const struct {
        LLVMOpcode opcode;
        const char *sign;
    } signs[] = {
        {LLVMAdd, " + "},  {LLVMFAdd, " + "},  {LLVMSub, " - "},   {LLVMFSub, " - "},
        {LLVMMul, " * "},  {LLVMFMul, " * "},  {LLVMUDiv, " / "},  {LLVMSDiv, " / "},
        {LLVMFDiv, " / "}, {LLVMURem, " % "},  {LLVMSRem, " % "},  {LLVMFRem, " % "},
        {LLVMShl, " << "}, {LLVMLShr, " >> "}, {LLVMAShr, " >> "}, {LLVMAnd, " & "},
        {LLVMOr, " | "},   {LLVMXor, " ^ "},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].opcode == opcode)
            return signs[i].sign;
    return NULL;
}

static const char *comparison(LLVMValueRef value)
{
    if (LLVMIsAICmpInst(value) != NULL)
        switch (LLVMGetICmpPredicate(value)) {
        case LLVMIntEQ:
            return " == ";
        case LLVMIntNE:
            return " != ";
        case LLVMIntUGT:
        case LLVMIntSGT:
            return " > ";
        case LLVMIntUGE:
        case LLVMIntSGE:
            return " >= ";
        case LLVMIntULT:
        case LLVMIntSLT:
            return " < ";
        default:
            return " <= ";
        }
    if (LLVMIsAFCmpInst(value) != NULL)
        switch (LLVMGetFCmpPredicate(value)) {
        case LLVMRealOEQ:
        case LLVMRealUEQ:
            return " == ";
        case LLVMRealOGT:
        case LLVMRealUGT:
            return " > ";
        case LLVMRealOGE:
        case LLVMRealUGE:
            return " >= ";
        case LLVMRealOLT:
        case LLVMRealULT:
            return " < ";
        case LLVMRealOLE:
        case LLVMRealULE:
            return " <= ";
        default:
            return " != ";
        }
    return NULL;
}

static void tell(struct teller *teller, LLVMValueRef value, unsigned depth);

static void tell_pair(struct teller *teller, LLVMValueRef value, const char *sign, unsigned depth)
{
    tell(teller, LLVMGetOperand(value, 0), depth);
    put(teller, sign);
    tell(teller, LLVMGetOperand(value, 1), depth);
}

static void tell_constant(struct teller *teller, LLVMValueRef value)
{
    char text[32];
    if (LLVMIsAConstantInt(value) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64) {
        snprintf(text, sizeof text, "%lld", LLVMConstIntGetSExtValue(value));
        put(teller, LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 1 ? text
                    : LLVMConstIntGetZExtValue(value) != 0     ? "true"
                                                               : "false");
    } else if (LLVMIsAConstantFP(value) != NULL) {
        LLVMBool loses;
        snprintf(text, sizeof text, "%g", LLVMConstRealGetDouble(value, &loses));
        put(teller, text);
    } else if (LLVMIsAConstantPointerNull(value) != NULL) {
        put(teller, "NULL");
    } else {
        put(teller, "_");
    }
}

// Literals have no name of their own.
static void tell_global(struct teller *teller, LLVMValueRef global)
{
    LLVMValueRef content =
        LLVMIsAGlobalVariable(global) != NULL ? LLVMGetInitializer(global) : NULL;
    if (LLVMGetLinkage(global) != LLVMPrivateLinkage || content == NULL ||
        LLVMIsAConstantDataSequential(content) == NULL || !LLVMIsConstantString(content)) {
        put_name(teller, global);
        return;
    }
    size_t size;
    char text[SHOWN_TEXT + 8];
    const char *all = LLVMGetAsString(content, &size);
    size_t length = strnlen(all, size), shown = length;
    if (length > SHOWN_TEXT)
        for (shown = SHOWN_TEXT; shown > 0 && ((unsigned char)all[shown] & 0xc0) == 0x80;)
            shown--; // no character is cut
    snprintf(text, sizeof text, "\"%.*s%s\"", (int)shown, all, shown < length ? "..." : "");
    put(teller, text);
}

static bool is_moved(LLVMValueRef value)
{
    char name[64];
    shim_name(value, name, sizeof name);
    return strcmp(name, "incdec.ptr") == 0 || strncmp(name, "add.ptr", 7) == 0;
}

static bool is_decayed(LLVMValueRef value)
{
    char name[64];
    shim_name(value, name, sizeof name);
    return strncmp(name, "arraydecay", 10) == 0;
}

// Names tell an element of an array from a member of a structure.
static void tell_element(struct teller *teller, LLVMValueRef value, unsigned depth)
{
    LLVMValueRef base = LLVMGetOperand(value, 0);
    LLVMValueRef index = LLVMGetOperand(value, (unsigned)LLVMGetNumOperands(value) - 1);
    char name[64];
    shim_name(value, name, sizeof name);
    tell(teller, base, depth);
    if (is_decayed(value))
        return;
    bool moved = is_moved(value);
    if (moved || strncmp(name, "arrayidx", 8) == 0 || strncmp(name, "arrayinit", 9) == 0 ||
        *name == '\0') {
        put(teller, moved ? " + " : "[");
        tell(teller, index, depth);
        put(teller, moved ? "" : "]");
        return;
    }
    put(teller, LLVMIsALoadInst(base) != NULL || LLVMIsACallInst(base) != NULL ? "->" : ".");
    put(teller, name);
}

static void tell_call(struct teller *teller, LLVMValueRef call, unsigned depth)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) != NULL)
        put(teller, "asm");
    else
        tell(teller, callee, depth);
    put(teller, "(");
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        put(teller, i == 0 ? "" : ", ");
        tell(teller, LLVMGetOperand(call, i), depth);
    }
    put(teller, ")");
}

static bool is_element(LLVMValueRef value)
{
    return LLVMIsAGetElementPtrInst(value) != NULL ||
           (LLVMIsAConstantExpr(value) != NULL && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

// Variables and elements are where their name says; what else is a pointer points there.
static void tell_place(struct teller *teller, LLVMValueRef pointer, unsigned depth)
{
    bool moved = is_element(pointer) && is_moved(pointer);
    bool named = LLVMIsAAllocaInst(pointer) != NULL || LLVMIsAGlobalValue(pointer) != NULL ||
                 (is_element(pointer) && !moved && !is_decayed(pointer));
    put(teller, named ? "" : moved ? "*(" : "*");
    tell(teller, pointer, depth);
    put(teller, moved ? ")" : "");
}

static void tell(struct teller *teller, LLVMValueRef value, unsigned depth)
{
    if (depth > DEEPEST || teller->size == LONGEST) {
        put(teller, "...");
        return;
    }
    depth++;
    if (LLVMIsAGlobalValue(value) != NULL)
        tell_global(teller, value);
    else if (is_element(value))
        tell_element(teller, value, depth);
    else if (LLVMIsAConstant(value) != NULL)
        tell_constant(teller, value);
    else if (LLVMIsALoadInst(value) != NULL)
        tell_place(teller, LLVMGetOperand(value, 0), depth);
    else if (LLVMIsACastInst(value) != NULL || LLVMIsAFreezeInst(value) != NULL)
        tell(teller, LLVMGetOperand(value, 0), depth);
    else if (comparison(value) != NULL)
        tell_pair(teller, value, comparison(value), depth);
    else if (LLVMIsABinaryOperator(value) != NULL)
        tell_pair(teller, value, sign_of(LLVMGetInstructionOpcode(value)), depth);
    else if (LLVMIsACallInst(value) != NULL || LLVMIsAInvokeInst(value) != NULL)
        tell_call(teller, value, depth);
    else if (LLVMIsAAllocaInst(value) != NULL || LLVMIsAArgument(value) != NULL)
        put_name(teller, value);
    else
        put(teller, "_");
}

uint32_t pass_detail(struct pass *pass, LLVMValueRef instruction)
{
    struct teller teller = {0};
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode == LLVMStore) {
        tell_place(&teller, LLVMGetOperand(instruction, 1), 0);
        put(&teller, " = ");
        tell(&teller, LLVMGetOperand(instruction, 0), 0);
    } else if (opcode == LLVMBr) {
        if (LLVMIsConditional(instruction))
            tell(&teller, LLVMGetCondition(instruction), 0);
    } else if (opcode == LLVMSwitch || opcode == LLVMRet) {
        if (LLVMGetNumOperands(instruction) > 0)
            tell(&teller, LLVMGetOperand(instruction, 0), 0);
    } else {
        tell(&teller, instruction, 0);
    }
    if (teller.size == LONGEST)
        memcpy(teller.text + LONGEST - 3, "...", 3);
    return pass_intern(pass, teller.text);
}
