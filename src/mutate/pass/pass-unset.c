// SPDX-License-Identifier: GPL-3.0-or-later
// A fault may keep a variable from getting its value. What it has then must be a value that the
// optimiser knows nothing of: of a variable without one it would conclude that it has the value of
// the pristine path, and the fault would be gone.
#include "mutate/pass/source.h"

#include <string.h>

static bool is_scalar(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMPointerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

static LLVMValueRef room_named(LLVMValueRef code, const char *name)
{
    for (LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(code)); at != NULL;
         at = LLVMGetNextInstruction(at)) {
        size_t size;
        if (LLVMIsAAllocaInst(at) != NULL && strcmp(LLVMGetValueName2(at, &size), name) == 0)
            return at;
    }
    return NULL;
}

// The variable that may have no value with a candidate's fault, or NULL.
static LLVMValueRef variable_of(LLVMValueRef code, const struct pass_candidate *candidate)
{
    LLVMValueRef room = NULL;
    if (LLVMIsAStoreInst(candidate->instruction) != NULL)
        room = LLVMIsAAllocaInst(LLVMGetOperand(candidate->instruction, 1));
    else if (candidate->place.other != NULL)
        room = room_named(code, candidate->place.other);
    return room != NULL && is_scalar(LLVMGetAllocatedType(room)) ? room : NULL;
}

static bool begins_life(LLVMValueRef user)
{
    size_t size;
    return LLVMIsAIntrinsicInst(user) != NULL &&
           strncmp(LLVMGetValueName2(LLVMGetCalledValue(user), &size), "llvm.lifetime.start", 19) ==
               0;
}

static void set_before(struct pass *pass, LLVMValueRef room, LLVMValueRef next, uint64_t value)
{
    struct fault_edit edit = {.builder = LLVMCreateBuilderInContext(pass->context),
                              .context = pass->context,
                              .module = pass->module};
    LLVMPositionBuilderBefore(edit.builder, next);
    LLVMBuildStore(edit.builder, fault_unknown(&edit, LLVMGetAllocatedType(room), value), room);
    LLVMDisposeBuilder(edit.builder);
}

// Where a variable begins to live its memory has no value yet; without such places it lives from
// the function's beginning on.
static void set(struct pass *pass, LLVMValueRef code, LLVMValueRef room, uint64_t value)
{
    bool begun = false, parameter = false;
    for (LLVMUseRef use = LLVMGetFirstUse(room); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        parameter |= LLVMIsAStoreInst(user) != NULL && LLVMGetOperand(user, 1) == room &&
                     fault_is_spill(user);
        begun |= begins_life(user);
    }
    if (parameter)
        return;
    if (!begun) {
        LLVMValueRef next = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(code));
        while (LLVMIsAAllocaInst(next) != NULL)
            next = LLVMGetNextInstruction(next);
        set_before(pass, room, next, value);
        return;
    }
    // The new stores come first in the list of uses, so the walk does not see them.
    for (LLVMUseRef use = LLVMGetFirstUse(room); use != NULL; use = LLVMGetNextUse(use))
        if (begins_life(LLVMGetUser(use)))
            set_before(pass, room, LLVMGetNextInstruction(LLVMGetUser(use)), value);
}

void pass_set_unset(struct pass *pass, const struct pass_function *subject, LLVMValueRef code)
{
    struct map done = {0};
    for (size_t i = 0; i < subject->candidates.count; i++) {
        LLVMValueRef room = variable_of(code, &subject->candidates.items[i]);
        if (room == NULL || map_find(&done, (uintptr_t)room) != MAP_NONE)
            continue;
        pass_must(map_put(&done, (uintptr_t)room, 0));
        // Small enough for a short instruction, and hardly the value it should be.
        set(pass, code, room, pass_random(subject->id + done.count) >> 33);
    }
    map_deinit(&done);
}
