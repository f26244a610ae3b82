// SPDX-License-Identifier: GPL-3.0-or-later
// What became of a fault in a register, from the instructions that were executed after it.
#ifndef ORDEAL_STATE_STEPS_H
#define ORDEAL_STATE_STEPS_H

#include "wire/state.h"

// Of `room` steps as many are filled in as the result says. Sets the activation, its time, and
// `steps`: how many instructions were executed up to the one that decided, or that are known.
// Unknown, if the steps do not say: none reads or overwrites it, a system call may read it, or an
// instruction overwrites it only under a condition.
void state_steps_judge(const struct wire_state_fault *fault, const struct wire_state_step *steps,
                       uint64_t room, struct wire_state_result *result);

#endif
