// SPDX-License-Identifier: GPL-3.0-or-later
// What to do with one intercepted call.
#ifndef ORDEAL_RUNTIME_DECIDE_H
#define ORDEAL_RUNTIME_DECIDE_H

#include "runtime/function.h"

enum decision runtime_decide(struct call_frame *frame);
bool decide_counts(const struct wire_rule *rule, uint64_t n); // whether it is about occurrence n
bool decide_has_rule(const struct function *function, uint32_t rule);

#endif
