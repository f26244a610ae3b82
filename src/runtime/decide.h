// SPDX-License-Identifier: GPL-3.0-or-later
// What to do with one intercepted call, and doing it.
#ifndef ORDEAL_RUNTIME_DECIDE_H
#define ORDEAL_RUNTIME_DECIDE_H

#include "runtime/call.h"
#include "runtime/function.h"

#include <stdint.h>

// ---- decide.c ----

enum decision runtime_decide(struct call_frame *frame);
bool decide_counts(const struct wire_rule *rule, uint64_t n); // whether it is about occurrence n
bool decide_has_rule(const struct function *function, uint32_t rule);

// ---- act.c ----

enum decision act(const struct call *call, uint32_t rule);
// The original was called, after DECIDE_PERFORM. It returned `result` in rax and `high` in rdx.
enum decision runtime_performed(struct call_frame *frame, uint64_t result, uint64_t high);

// ---- stop.c ----

void ordeal_injection(const char *function, uint64_t occurrence, uint32_t rule);

#endif
