// SPDX-License-Identifier: GPL-3.0-or-later
// Less memory than is needed: half of it.
#include "mutate/pass/types.h"

static const char *const allocations[] = {"malloc", "_Znwm", "_Znam", NULL};

static bool can_inject(const struct fault_place *place)
{
    return fault_calls(place->instruction, allocations);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMValueRef size = LLVMGetOperand(instruction, 0);
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(size), 1, false);
    LLVMSetOperand(instruction, 0, LLVMBuildLShr(edit->builder, size, one, ""));
}

const struct fault_type type_dangling_pointer = {
    ORDEAL_FAULT_VERSION, "dangling-pointer",
    "assignment",         "size too small in memory allocation",
    can_inject,           apply,
};
