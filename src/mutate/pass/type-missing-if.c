// SPDX-License-Identifier: GPL-3.0-or-later
// MIFS: the `if` and the statements that it guards are missing.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return fault_is_simple_if(place) && !place->decides_loop;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction, fault_unknown(edit, LLVMInt1TypeInContext(edit->context), 0));
}

const struct fault_type type_missing_if = {
    ORDEAL_FAULT_VERSION, "missing-if",
    "algorithm",          "remove if together with its statements (MIFS)",
    can_inject,           apply,
};
