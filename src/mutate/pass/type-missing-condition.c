// SPDX-License-Identifier: GPL-3.0-or-later
// MIA: the `if` around statements is missing, and they always run.
#include "mutate/pass/types.h"

static bool can_inject(const struct fault_place *place)
{
    return fault_is_simple_if(place) && !place->decides_loop;
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    LLVMSetCondition(instruction, fault_unknown(edit, LLVMInt1TypeInContext(edit->context), 1));
}

const struct fault_type type_missing_condition = {
    ORDEAL_FAULT_VERSION, "missing-condition",
    "checking",           "execute statements without the if around them (MIA)",
    can_inject,           apply,
};
