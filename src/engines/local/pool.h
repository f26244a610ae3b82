// SPDX-License-Identifier: GPL-3.0-or-later
// The local engine: job slots, each a process of its own that runs shots and judges them. So
// nothing that a target does to its parent reaches the controller, and orphans have a parent that
// ends them. A slot that dies is replaced. Slots are forked from this process as it is at the
// start.
#ifndef ORDEAL_ENGINES_LOCAL_POOL_H
#define ORDEAL_ENGINES_LOCAL_POOL_H

#include "engine/engine.h"

extern const struct engine engine_local;

#endif
