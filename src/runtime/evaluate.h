// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions of rules, and what they ask: places that the controller found, variables, plug-ins,
// the coordinator.
#ifndef ORDEAL_RUNTIME_EVALUATE_H
#define ORDEAL_RUNTIME_EVALUATE_H

#include "runtime/call.h"
#include "runtime/module.h"
#include "wire/plan.h"

// ---- evaluate.c ----

void evaluate_prepare(void);
// Whether the condition holds. `code` is the rule's, as index and count in the plan's code.
bool evaluate(const struct call *call, uint32_t rule, struct wire_span code);
bool stack_set_add(uint64_t hash); // true: it was not there before

// Bits of an argument to cut off at the top, by enum wire_argument_type; types with sign are odd.
static inline uint8_t argument_excess(uint32_t type)
{
    static const uint8_t excess[] = {0, 32, 32, 48, 48, 56, 56, 0};
    return excess[type % sizeof excess];
}

// ---- query.c ----

void query_take(const struct module *module, const struct wire_resolution *answer);
bool query_matches(uint32_t query, uint64_t return_address);
// False: there are several ranges. A length of 0: there is none.
bool query_single_range(uint32_t query, uint64_t *ret_low, uint64_t *ret_length);
// The first address that matches, from number `from` on; they are `stride` words apart. `count`:
// none does.
uint32_t query_find(uint32_t query, const uint64_t *pcs, uint32_t stride, uint32_t from,
                    uint32_t count);

// ---- variable.c ----

bool variables_prepare(void);
bool variable_add(const struct module *module, const struct wire_location *location,
                  const struct wire_step *steps);
bool variable_read(uint32_t variable, const struct call *call, uint32_t rule, int64_t *ret_value);

// ---- plugin.c ----

void plugin_prepare(void);
bool plugin_owns(const char *path);
bool plugin_evaluate(const struct call *call, uint32_t plugin);

// ---- remote.c ----

bool remote_ask(const struct call *call, uint32_t rule, uint32_t name);

#endif
