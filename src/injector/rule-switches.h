// SPDX-License-Identifier: GPL-3.0-or-later
// Switches rules of the plan on and off while a server runs. For injectors that put the runtime
// into the target. The switches are in the region, which the server has mapped, too. The functions
// implement struct injector_switches, which describes them.
#ifndef ORDEAL_INJECTOR_RULE_SWITCHES_H
#define ORDEAL_INJECTOR_RULE_SWITCHES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

// `file` is the region, `first` the offset of its rule states, and `count` their number.
_must_check_ struct error *rule_switches_open(const char *file, uint64_t first, uint64_t count,
                                              void **ret_switches);
void rule_switches_close(void *switches);
void rule_switches_set(void *switches, uint32_t rule, bool on);
uint64_t rule_switches_fired(const void *switches, uint32_t rule);
uint32_t rule_switches_crashes(const void *switches);

#endif
