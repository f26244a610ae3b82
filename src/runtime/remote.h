// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to the coordinator.
#ifndef ORDEAL_RUNTIME_REMOTE_H
#define ORDEAL_RUNTIME_REMOTE_H

#include "runtime/call.h"

bool remote_ask(const struct call *call, uint32_t rule, uint32_t name);

#endif
