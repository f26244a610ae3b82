// SPDX-License-Identifier: GPL-3.0-or-later
// WPFV: another variable of the same type is passed.
#include "mutate/pass/types.h"

#include <string.h>

// Whether an alloca was made by the pass itself for a value, and is no variable.
static bool is_made_up(LLVMValueRef room)
{
    static const char end[] = ".reg2mem";
    size_t size, least = sizeof end - 1;
    const char *name = LLVMGetValueName2(room, &size);
    return size >= least && memcmp(name + size - least, end, least) == 0;
}

// Another variable of the same type that is read or written earlier in the block; or NULL.
static LLVMValueRef neighbour(LLVMValueRef call, LLVMValueRef variable, LLVMTypeRef type)
{
    for (LLVMValueRef at = LLVMGetPreviousInstruction(call); at != NULL;
         at = LLVMGetPreviousInstruction(at)) {
        LLVMValueRef room = LLVMIsALoadInst(at) != NULL    ? LLVMGetOperand(at, 0)
                            : LLVMIsAStoreInst(at) != NULL ? LLVMGetOperand(at, 1)
                                                           : NULL;
        if (room != NULL && room != variable && LLVMIsAAllocaInst(room) != NULL &&
            LLVMGetAllocatedType(room) == type && !is_made_up(room))
            return room;
    }
    return NULL;
}

// Whether an argument is a variable that is read for this block alone. A value that other blocks
// use, too, has been moved to memory by the time the fault is made, and its variable is not known
// any more.
static bool is_variable(LLVMValueRef argument)
{
    if (LLVMIsALoadInst(argument) == NULL || !fault_is_local(LLVMGetOperand(argument, 0)) ||
        is_made_up(LLVMGetOperand(argument, 0)))
        return false;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(argument);
    for (LLVMUseRef use = LLVMGetFirstUse(argument); use != NULL; use = LLVMGetNextUse(use))
        if (LLVMGetInstructionParent(LLVMGetUser(use)) != block ||
            LLVMIsAPHINode(LLVMGetUser(use)) != NULL)
            return false;
    return true;
}

// The first argument that is a variable with such a neighbour; -1 if there is none.
static int pick(LLVMValueRef call, LLVMValueRef *ret_other)
{
    if (LLVMIsACallInst(call) == NULL || !fault_is_plain_call(call))
        return -1;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        if (!is_variable(argument))
            continue;
        LLVMValueRef other = neighbour(call, LLVMGetOperand(argument, 0), LLVMTypeOf(argument));
        if (other != NULL && ret_other != NULL)
            *ret_other = other;
        if (other != NULL)
            return (int)i;
    }
    return -1;
}

static bool can_inject(const struct fault_place *place)
{
    return pick(place->instruction, NULL) >= 0;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMValueRef other = NULL;
    int at = pick(instruction, &other);
    if (at < 0)
        return;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)at));
    LLVMSetOperand(instruction, (unsigned)at, LLVMBuildLoad2(edit->builder, type, other, ""));
}

const struct fault_type type_wrong_variable = {
    ORDEAL_FAULT_VERSION, "wrong-variable",
    "interface",          "use wrong variable in function call parameter (WPFV)",
    can_inject,           apply,
};
