// SPDX-License-Identifier: GPL-3.0-or-later
// Triggers of the user's own.
#ifndef ORDEAL_RUNTIME_PLUGIN_H
#define ORDEAL_RUNTIME_PLUGIN_H

#include "runtime/call.h"

void plugin_prepare(void);
bool plugin_owns(const char *path);
bool plugin_evaluate(const struct call *call, uint32_t plugin);

#endif
