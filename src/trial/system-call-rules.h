// SPDX-License-Identifier: GPL-3.0-or-later
// Rules about system calls, which the tracer (src/tracer) applies.
#ifndef ORDEAL_TRIAL_SYSTEM_CALL_RULES_H
#define ORDEAL_TRIAL_SYSTEM_CALL_RULES_H

#include "base/error.h"
#include "wire/plan.h"

#include <stdbool.h>

// Whether a name or glob stands for a system call.
bool system_call_is_named(const char *glob);
// Refuses what a rule about system calls cannot do or ask. The plan has been checked.
_must_check_ struct error *system_call_rules_check(const struct wire_plan *plan);

#endif
