// SPDX-License-Identifier: GPL-3.0-or-later
// On which way a parameter or the result of a call leads to memory.
#ifndef ORDEAL_INTERFACE_PATH_H
#define ORDEAL_INTERFACE_PATH_H

#include "interface/corruption.h"

// A call that has just ended.
struct ended_call {
    const struct items *items;
    const struct frame *frame;
    const uint64_t *stack; // as of world_stack()
    bool has_result;       // that may be a pointer
    uint64_t result;
};
struct paths;
_must_check_ struct error *paths_find(const struct ended_call *call, struct paths **ret_paths);
// When the call that differs has ended, in the run without fault.
_must_check_ struct error *paths_find_difference(const struct interface_comparison *comparison,
                                                 struct paths **ret_paths);
void paths_free(struct paths *paths);
// The shortest path to memory of either run's world; its root is CORRUPTION_NOWHERE if there is
// none.
struct corruption_path paths_of(const struct paths *paths, const struct world *world,
                                struct meaning target);

#endif
