// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions of rules.
#ifndef ORDEAL_RUNTIME_EVALUATE_H
#define ORDEAL_RUNTIME_EVALUATE_H

#include "runtime/call.h"
#include "wire/plan.h"

void evaluate_prepare(void);
// Whether the condition holds. `code` is the rule's, as index and count in the plan's code.
bool evaluate(const struct call *call, uint32_t rule, struct wire_span code);
bool stack_set_add(uint64_t hash); // true: it was not there before
// What it is open on: an enum wire_fd_test; WIRE_NONE: something else, or it is not open.
uint32_t descriptor_kind(int64_t descriptor);

// Bits of an argument to cut off at the top, by enum wire_argument_type; types with sign are odd.
static inline uint8_t argument_excess(uint32_t type)
{
    static const uint8_t excess[] = {0, 32, 32, 48, 48, 56, 56, 0};
    return excess[type % sizeof excess];
}

#endif
