// SPDX-License-Identifier: GPL-3.0-or-later
// On which way a parameter or the result of a call leads to memory.
#ifndef ORDEAL_INTERFACE_PATH_H
#define ORDEAL_INTERFACE_PATH_H

#include "interface/corruption.h"

struct paths;
// When the call that differs has ended, in the run without fault.
_must_check_ struct error *paths_find(const struct interface_comparison *comparison,
                                      struct paths **ret_paths);
void paths_free(struct paths *paths);
// The shortest path to memory of either run's world; its root is CORRUPTION_NOWHERE if there is
// none.
struct corruption_path paths_of(const struct paths *paths, const struct world *world,
                                struct meaning target);

#endif
