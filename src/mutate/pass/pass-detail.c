// SPDX-License-Identifier: GPL-3.0-or-later
// Describes what an instruction works on as a programmer would write it: "count = n + 1", "p->next
// != NULL". It uses the names that the compiler gives to values before it optimises.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <stdio.h>
#include <string.h>

#define LONGEST    60 // bytes
#define SHOWN_TEXT 20 // bytes of a string
#define DEEPEST    4

struct description {
    char text[LONGEST + 1];
    size_t size;
};

static void put(struct description *out, const char *text)
{
    size_t size = strlen(text), room = LONGEST - out->size;
    memcpy(out->text + out->size, text, size < room ? size : room);
    out->size += size < room ? size : room;
}

// Intrinsics without the types in their names: llvm.memcpy.p0.p0.i64
static void put_name(struct description *out, LLVMValueRef value)
{
    char name[64];
    shim_name(value, name, sizeof name);
    if (strncmp(name, "llvm.", 5) == 0) {
        name[5 + strcspn(name + 5, ".")] = '\0';
        put(out, name + 5);
        return;
    }
    put(out, *name != '\0' ? name : "_");
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

static void describe(struct description *out, LLVMValueRef value, unsigned depth);

static void describe_pair(struct description *out, LLVMValueRef value, const char *sign,
                          unsigned depth)
{
    describe(out, LLVMGetOperand(value, 0), depth);
    put(out, sign);
    describe(out, LLVMGetOperand(value, 1), depth);
}

static void describe_constant(struct description *out, LLVMValueRef value)
{
    char text[32];
    if (LLVMIsAConstantInt(value) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64) {
        snprintf(text, sizeof text, "%lld", LLVMConstIntGetSExtValue(value));
        put(out, LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 1 ? text
                 : LLVMConstIntGetZExtValue(value) != 0     ? "true"
                                                            : "false");
    } else if (LLVMIsAConstantFP(value) != NULL) {
        LLVMBool loses;
        snprintf(text, sizeof text, "%g", LLVMConstRealGetDouble(value, &loses));
        put(out, text);
    } else if (LLVMIsAConstantPointerNull(value) != NULL) {
        put(out, "NULL");
    } else {
        put(out, "_");
    }
}

// Literals have no name of their own.
static void describe_global(struct description *out, LLVMValueRef global)
{
    LLVMValueRef content =
        LLVMIsAGlobalVariable(global) != NULL ? LLVMGetInitializer(global) : NULL;
    if (LLVMGetLinkage(global) != LLVMPrivateLinkage || content == NULL ||
        LLVMIsAConstantDataSequential(content) == NULL || !LLVMIsConstantString(content)) {
        put_name(out, global);
        return;
    }
    size_t size;
    char text[SHOWN_TEXT + 8];
    const char *all = LLVMGetAsString(content, &size);
    size_t length = strnlen(all, size), shown = length;
    if (length > SHOWN_TEXT)
        for (shown = SHOWN_TEXT; shown > 0 && ((unsigned char)all[shown] & 0xc0) == 0x80;)
            shown--; // do not cut within a character
    snprintf(text, sizeof text, "\"%.*s%s\"", (int)shown, all, shown < length ? "..." : "");
    put(out, text);
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
static void describe_element(struct description *out, LLVMValueRef value, unsigned depth)
{
    LLVMValueRef base = LLVMGetOperand(value, 0);
    LLVMValueRef index = LLVMGetOperand(value, (unsigned)LLVMGetNumOperands(value) - 1);
    char name[64];
    shim_name(value, name, sizeof name);
    describe(out, base, depth);
    if (is_decayed(value))
        return;
    bool moved = is_moved(value);
    if (moved || strncmp(name, "arrayidx", 8) == 0 || strncmp(name, "arrayinit", 9) == 0 ||
        *name == '\0') {
        put(out, moved ? " + " : "[");
        describe(out, index, depth);
        put(out, moved ? "" : "]");
        return;
    }
    put(out, LLVMIsALoadInst(base) != NULL || LLVMIsACallInst(base) != NULL ? "->" : ".");
    put(out, name);
}

static void describe_call(struct description *out, LLVMValueRef call, unsigned depth)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) != NULL)
        put(out, "asm");
    else
        describe(out, callee, depth);
    put(out, "(");
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        put(out, i == 0 ? "" : ", ");
        describe(out, LLVMGetOperand(call, i), depth);
    }
    put(out, ")");
}

static bool is_element(LLVMValueRef value)
{
    return LLVMIsAGetElementPtrInst(value) != NULL ||
           (LLVMIsAConstantExpr(value) != NULL && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

// Variables and elements are written by their name; every other pointer gets a '*'.
static void describe_place(struct description *out, LLVMValueRef pointer, unsigned depth)
{
    bool moved = is_element(pointer) && is_moved(pointer);
    bool named = LLVMIsAAllocaInst(pointer) != NULL || LLVMIsAGlobalValue(pointer) != NULL ||
                 (is_element(pointer) && !moved && !is_decayed(pointer));
    put(out, named ? "" : moved ? "*(" : "*");
    describe(out, pointer, depth);
    put(out, moved ? ")" : "");
}

static void describe(struct description *out, LLVMValueRef value, unsigned depth)
{
    if (depth > DEEPEST || out->size == LONGEST) {
        put(out, "...");
        return;
    }
    depth++;
    if (LLVMIsAGlobalValue(value) != NULL)
        describe_global(out, value);
    else if (is_element(value))
        describe_element(out, value, depth);
    else if (LLVMIsAConstant(value) != NULL)
        describe_constant(out, value);
    else if (LLVMIsALoadInst(value) != NULL)
        describe_place(out, LLVMGetOperand(value, 0), depth);
    else if (LLVMIsACastInst(value) != NULL || LLVMIsAFreezeInst(value) != NULL)
        describe(out, LLVMGetOperand(value, 0), depth);
    else if (comparison(value) != NULL)
        describe_pair(out, value, comparison(value), depth);
    else if (LLVMIsAExtractValueInst(value) != NULL && fault_is_of_sanitizer(value))
        describe(out, LLVMGetOperand(value, 0), depth - 1);
    else if (LLVMIsAInstruction(value) != NULL && fault_operation(value) != 0)
        describe_pair(out, value, sign_of(fault_operation(value)), depth);
    else if (LLVMIsACallInst(value) != NULL || LLVMIsAInvokeInst(value) != NULL)
        describe_call(out, value, depth);
    else if (LLVMIsAAllocaInst(value) != NULL || LLVMIsAArgument(value) != NULL)
        put_name(out, value);
    else
        put(out, "_");
}

uint32_t pass_detail(struct pass *pass, LLVMValueRef instruction)
{
    struct description out = {0};
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode == LLVMStore) {
        describe_place(&out, LLVMGetOperand(instruction, 1), 0);
        put(&out, " = ");
        describe(&out, LLVMGetOperand(instruction, 0), 0);
    } else if (opcode == LLVMBr) {
        if (LLVMIsConditional(instruction))
            describe(&out, LLVMGetCondition(instruction), 0);
    } else if (opcode == LLVMSwitch || opcode == LLVMRet) {
        if (LLVMGetNumOperands(instruction) > 0)
            describe(&out, LLVMGetOperand(instruction, 0), 0);
    } else {
        describe(&out, instruction, 0);
    }
    if (out.size == LONGEST)
        memcpy(out.text + LONGEST - 3, "...", 3);
    return pass_intern(pass, out.text);
}
