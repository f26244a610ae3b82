// SPDX-License-Identifier: GPL-3.0-or-later
// Memory is not given back.
#include "mutate/pass/types.h"

static const char *const releases[] = {"free",   "munmap",  "_ZdlPv", "_ZdlPvm",
                                       "_ZdaPv", "_ZdaPvm", NULL};

static bool can_inject(const struct fault_place *place)
{
    return fault_is_removable_call(place->instruction) && fault_calls(place->instruction, releases);
}

static void apply(LLVMValueRef instruction, struct fault_edit *edit)
{
    fault_remove(instruction, edit);
}

const struct fault_type type_mem_leak = {
    ORDEAL_FAULT_VERSION, "mem-leak", "algorithm", "remove memory de-allocation", can_inject, apply,
};
