// SPDX-License-Identifier: GPL-3.0-or-later
// Switches for injectors that have the runtime in the target: rules of the plan, switched on and
// off while the server runs, in the region, which the server has mapped as well. Functions for
// struct injector_switches, which says what they do.
#ifndef ORDEAL_INJECTOR_RULE_SWITCHES_H
#define ORDEAL_INJECTOR_RULE_SWITCHES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

// `file` is the region; `first` is where the states of its rules are in it, and `count` how many.
_must_check_ struct error *rule_switches_open(const char *file, uint64_t first, uint64_t count,
                                              void **ret_switches);
void rule_switches_close(void *switches);
void rule_switches_set(void *switches, uint32_t rule, bool on);
uint64_t rule_switches_fired(const void *switches, uint32_t rule);
uint32_t rule_switches_crashes(const void *switches);

#endif
