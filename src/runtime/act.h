// SPDX-License-Identifier: GPL-3.0-or-later
// What a rule that fires does to the call.
#ifndef ORDEAL_RUNTIME_ACT_H
#define ORDEAL_RUNTIME_ACT_H

#include "runtime/call.h"

enum decision act(const struct call *call, uint32_t rule);
// The original was called, after DECIDE_PERFORM.
enum decision runtime_performed(struct call_frame *frame);

#endif
